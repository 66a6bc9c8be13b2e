"""What pages written for a repository need on a site: named places, and links to files."""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

PLACE = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)  # before a block
SPOT = re.compile(r'<a id="([\w-]+)"></a>')  # within a line
LINK = re.compile(r"\]\(([^)#:\s]*)#([\w-]+)\)")
EXAMPLES = "examples/gallery"
FILE = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)#:\s]+)\)")


def named_places(root: Path) -> set[str]:
    """Return the names that pages give to places by an HTML anchor."""
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("experiments/*.md")]
    return {name for page in pages for name in SPOT.findall(page.read_text(encoding="utf-8"))}


def rewrite(app: Sphinx, docname: str, source: list[str]) -> None:
    """Name places as MyST does; lead to the pages of examples, and no link to other files."""
    path = Path(app.env.doc2path(docname))
    if path.suffix not in {".md", ".ipynb"}:
        return
    places, on_site = app.config.places, app.env.found_docs

    def link(match: re.Match) -> str:
        return f"](#{match[2]})" if match[2] in places else match[0]

    def file(match: re.Match) -> str:
        target = (path.parent / match[2]).resolve()
        inside = str(target.relative_to(app.srcdir).with_suffix(""))
        if inside.startswith(EXAMPLES):  # scripts have pages
            name = inside.removeprefix(EXAMPLES).strip("/") or "index"
            page = os.path.relpath(f"{app.srcdir}/docs/gallery/{name}.rst", path.parent)
            return f"[{match[1]}]({page})"
        return match[0] if inside in on_site else match[1]

    text = PLACE.sub(lambda match: f"({match[1]})=", source[0])
    text = SPOT.sub(r"[]{#\1}", text)
    source[0] = FILE.sub(file, LINK.sub(link, text))


def setup(app: Sphinx) -> dict[str, bool]:
    """Read the names once, and rewrite each page as it is read."""
    app.add_config_value("places", named_places(Path(app.srcdir)), "env")
    app.connect("source-read", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
