"""Put live source into the pages.

Each block after ``<!-- source: module:name -->`` is filled from the code itself.

Code outside the package is named by its path from the root: ``tests/laws/test_outside.py:Rising``.
"""

import ast
import inspect
import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(<!-- source: ([\w./]+):([\w.]+) -->\n```python\n)(.*?)(```)", re.DOTALL)


def source(place: str, name: str) -> str:
    """Return the source of a class, function or method, of a module or of a file."""
    if not place.endswith(".py"):
        return dedent(inspect.getsource(attrgetter(name)(import_module(place))))
    text = (ROOT / place).read_text(encoding="utf-8")
    found = next(node for node in ast.parse(text).body if getattr(node, "name", None) == name)
    first = min([found.lineno, *(mark.lineno for mark in found.decorator_list)])
    return "".join(text.splitlines(keepends=True)[first - 1 : found.end_lineno])


def fill(match: re.Match) -> str:
    """Return the block with the source that its mark names."""
    return match[1] + source(match[2], match[3]) + match[5]


if __name__ == "__main__":
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        page.write_text(BLOCK.sub(fill, text), encoding="utf-8")
