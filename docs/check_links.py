"""Check that every link and anchor within the built site leads somewhere.

``python docs/check_links.py docs/_build/html`` needs no network: links to other sites are counted.
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names and where it leads."""
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value or "")
            elif name in {"href", "src"} and value:
                self.links.append(value)


def broken(folder: Path) -> Iterator[str]:
    """Yield a sentence for each link that leads nowhere."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.html")
        if "_static" not in path.parts  # templates of the theme
    }
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{path.relative_to(folder)}: {link} is not there"
            elif parts.fragment and target in pages:
                places = pages[target].places
                if unquote(parts.fragment) not in places and parts.fragment not in places:
                    yield f"{path.relative_to(folder)}: no place #{parts.fragment} in {parts.path}"


def outside(folder: Path) -> set[str]:
    """Return what pages load from other sites: nothing, or the site needs the network."""
    loaded = set()
    for path in folder.rglob("*.html"):
        for link in Page(path.read_text(encoding="utf-8")).links:
            if link.startswith(("http", "//")) and link.endswith((".js", ".css", ".png", ".woff2")):
                loaded.add(link)
    return loaded


if __name__ == "__main__":
    root = Path(sys.argv[1]).resolve()
    found = sorted({*broken(root), *(f"{link} comes from elsewhere" for link in outside(root))})
    print("\n".join(found) or f"{len(list(root.rglob('*.html')))} pages: all links lead somewhere.")
    sys.exit(bool(found))
