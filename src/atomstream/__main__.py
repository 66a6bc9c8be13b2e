"""``python -m atomstream`` is ``atomstream``."""

import sys

from atomstream.cli import main

if __name__ == "__main__":
    sys.exit(main())
