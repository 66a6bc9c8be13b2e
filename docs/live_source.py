"""Put live source into the pages: fills each block after ``<!-- source: module:name -->`` from the code itself."""

import inspect
import re
from importlib import import_module
from pathlib import Path

BLOCK = re.compile(r"(<!-- source: ([\w.]+):([\w.]+) -->\n```python\n)(.*?)(```)", re.DOTALL)


def fill(match: re.Match) -> str:
    """Return the block with the source that its mark names."""
    source = inspect.getsource(getattr(import_module(match[2]), match[3]))
    return match[1] + source + match[5]


if __name__ == "__main__":
    root = Path(__file__).parents[1]
    for page in [*root.glob("*.md"), *root.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        page.write_text(BLOCK.sub(fill, text), encoding="utf-8")
