"""Notebooks as pages: their text, code, and what is stored beneath it. Nothing is run here.

`make notebooks` runs them, and stores what they print and draw.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def joined(text: str | list[str]) -> str:
    """Return a text that a notebook keeps as one string or as a list of lines."""
    return "".join(text).rstrip("\n")


def shown(cell: dict) -> Iterator[str]:
    """Yield what stands beneath a cell of code: texts, and pictures within the page."""
    descriptions = iter(cell["metadata"].get("alt", []))
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "image/png" in data:
            picture = joined(data["image/png"]).replace("\n", "")
            yield f"![{next(descriptions)}](data:image/png;base64,{picture})"
        else:
            yield f"```{{code-block}} none\n:class: output\n\n{joined(data['text/plain'])}\n```"


def page(notebook: dict, name: str) -> str:
    """Return the page of a notebook, with a link to its file beneath the first cell."""
    parts = []
    for cell in notebook["cells"]:
        source = joined(cell["source"])
        if cell["cell_type"] == "code":
            parts += [f"```python\n{source}\n```", *shown(cell)]
        else:
            parts.append(source)
    parts.insert(1, f"{{download}}`The notebook of this page <{name}>`")
    return "\n\n".join(parts) + "\n"


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Make a page of Markdown of a notebook, before links are looked at."""
    path = Path(app.env.doc2path(docname))
    if path.suffix == ".ipynb":
        source[0] = page(json.loads(source[0]), path.name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Take notebooks for pages."""
    app.add_source_suffix(".ipynb", "markdown")
    app.connect("source-read", read, priority=400)  # before the links of pages are rewritten
    return {"parallel_read_safe": True, "parallel_write_safe": True}
