"""Learn interpretable dictionaries from data that never stops.

The library is one sentence, ``stream -> coder -> memory -> update of the dictionary``, written once
in `atomstream.loop`; estimators bind the parts, runs and the command line feed them. Importing the
package is light: the public names stand in one table, ``__init__.pyi``, and each is loaded when it
is first used.
"""

import logging

import lazy_loader

__version__ = "0.1.0"

# Quiet unless an application sets up logging; each module has a logger of its own name.
logging.getLogger(__name__).addHandler(logging.NullHandler())

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
