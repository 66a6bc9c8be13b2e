"""Run the lines of the pages in this folder: ``python docs/coming-from/run.py [PAGE ...]``.

The blocks of a page run in their order, in one namespace. A page whose library is not installed is
passed over.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
OURS = "atomstream"


def blocks(page: Path) -> list[str]:
    """Return the blocks of code of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def run(page: Path) -> bool:
    """Run a page; return whether its libraries were there."""
    names = {"__name__": "__main__"}
    for block in blocks(page):
        try:
            exec(compile(block, str(page), "exec"), names)
        except ImportError as missing:
            if (missing.name or "").split(".")[0] == OURS:
                raise
            print(f"{page.name}: passed over, {missing}")
            return False
    return True


if __name__ == "__main__":
    pages = [HERE / name for name in sys.argv[1:]] or sorted(HERE.glob("*.md"))
    for each in pages:
        if blocks(each):
            print(f"== {each.name}")
            run(each)
