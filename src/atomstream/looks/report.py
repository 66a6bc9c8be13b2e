"""Reports: one self-contained HTML page that asks nothing of a network, with every name escaped.

The page is made of the files in ``page``. Its one script is named by its digest in the page's
policy, so that a browser runs no other, whatever the data hold.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from atomstream.base.extras import library
from atomstream.base.progress import track
from atomstream.io.files import whole_file
from atomstream.looks.cards import Cards, course_points


@dataclass(frozen=True)
class Section:
    """A section of a report: a figure, facts, a table, or several of these.

    Attributes
    ----------
    name : str
        File name of the figure, without ending.
    title, caption : str
    figure : matplotlib.figure.Figure, optional
    chapter : str
        Heading of a new chapter that starts with this section.
    facts : mapping of str to values
    columns : sequence of str
        Names of the columns of the table.
    rows : sequence of sequences
        Rows of the table.
    of_atoms : bool
        Whether the first column of the table holds numbers of atoms.
    """

    name: str
    title: str
    caption: str = ""
    figure: Any = None
    chapter: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    of_atoms: bool = False


def write_report(
    folder: str | Path,
    title: str,
    facts: Mapping[str, Any],
    sections: list[Section],
    *,
    cards: Cards | None = None,
    dpi: int = 110,
) -> Path:
    """Write ``report.html`` with its figures, and each figure as PNG and SVG under ``figures/``.

    Parameters
    ----------
    folder : path
        Created if needed.
    title : str
    facts : mapping of str to values
        The table at the top.
    sections : list of Section
    cards : Cards, optional
        The atoms one by one, after the first chapter.
    dpi : int, default=110
        Dots per inch of the figures.

    Returns
    -------
    pathlib.Path
        Path of the page.
    """
    folder = Path(folder)
    pictures = {
        name: base64.b64encode(png).decode("ascii") for name, png in _drawn(folder, sections, dpi)
    }
    path = folder / "report.html"
    with whole_file(path) as file:
        text = _page(title, facts, sections, pictures, cards)
        file.write(text.encode("utf-8", "replace"))
    return path


def _page(
    title: str,
    facts: Mapping[str, Any],
    sections: list[Section],
    drawn: Mapping[str, str],
    cards: Cards | None,
) -> str:
    """Return the text of the page."""
    script, style, template = (
        (files("atomstream.looks") / "page" / name).read_text(encoding="utf-8")
        for name in ("report.js", "report.css", "report.html.jinja")
    )
    page = library("jinja2", "Reports").Environment(autoescape=True).from_string(template)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    text: str = page.render(
        **{"title": title, "facts_": facts, "chapters": _chapters(sections), "drawn": drawn},
        **{"script": script, "style": style, "digest": digest, "anchor": _anchor},
        **{"percent": _percent, "course": course_points},
        **_browsing(cards),
    )
    return text


def _browsing(cards: Cards | None) -> dict[str, Any]:
    """Return what the page needs to know of the cards."""
    if cards is None or not cards.cards:
        return {"cards": None, "known": set()}
    figures = {name: None for card in cards.cards for name in card.figures}
    timed = ["share at the time"] if cards.times else []
    placed = ["similarity"] if cards.cards[0].place is not None else []
    state = {
        "noun": cards.noun,
        "origin": dict(cards.origin),
        "saved": {**cards.origin, **cards.edits},
        "times": list(cards.times),
        "frames": list(cards.frames),
    }
    return {
        "cards": cards,
        "known": {card.number for card in cards.cards},
        "sorts": [*figures, *timed, *placed, "number"],
        "has_terms": any(card.terms for card in cards.cards),
        "state": state,
    }


def _chapters(sections: list[Section]) -> list[tuple[str, list[Section]]]:
    """Return sections under the headings of their chapters."""
    chapters: list[tuple[str, list[Section]]] = []
    for section in sections:
        if section.chapter or not chapters:
            chapters.append((section.chapter, []))
        chapters[-1][1].append(section)
    return chapters


def _anchor(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower())


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def write_figures(folder: str | Path, sections: list[Section], *, dpi: int = 110) -> list[Path]:
    """Write the figures of sections as PNG and SVG under ``figures/`` and return their paths.

    Parameters
    ----------
    folder : path
    sections : list of Section
    dpi : int, default=110
    """
    names = [name for name, _ in _drawn(Path(folder), sections, dpi)]
    return [
        Path(folder) / "figures" / f"{name}.{kind}" for name in names for kind in ("png", "svg")
    ]


def _drawn(folder: Path, sections: list[Section], dpi: int) -> Iterator[tuple[str, bytes]]:
    """Write each figure in both formats and yield its name and its PNG."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    drawn = [section for section in sections if section.figure is not None]
    for section in track(drawn, len(drawn), "drawing"):
        for kind, about in (("svg", {"Date": None}), ("png", {})):
            buffer = io.BytesIO()
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
                section.figure.savefig(buffer, format=kind, dpi=dpi, metadata=about)
            with whole_file(folder / "figures" / f"{section.name}.{kind}") as file:
                file.write(buffer.getvalue())
        yield section.name, buffer.getvalue()
