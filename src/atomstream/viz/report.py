"""Reports: one self-contained HTML page, without scripts and network, with every name escaped."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atomstream.core.extras import library
from atomstream.core.progress import followed
from atomstream.io.files import whole_file

__all__ = ["Section", "write_figures", "write_report"]

TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{{ title }}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 62rem }
body { margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem }
h2 { font-size: 1.25rem; margin-top: 2.4rem; border-bottom: 1px solid #ddd }
h3 { font-size: 1.02rem; margin-bottom: .4rem }
img { max-width: 100%; height: auto } figure { margin: 0 }
figcaption { color: #555; font-size: .9rem }
table { border-collapse: collapse }
td, th { padding: .15rem 1.2rem .15rem 0; vertical-align: top; text-align: left }
th { font-weight: 600; font-size: .9rem }
table.facts td:first-child { color: #555; white-space: nowrap }
td { overflow-wrap: anywhere } td.number { text-align: right; font-variant-numeric: tabular-nums }
@media print { body { margin: 0; max-width: none } }
@media print { figure, table { break-inside: avoid } h2, h3 { break-after: avoid } }
</style>
<h1>{{ title }}</h1>
{% macro facts(values) %}<table class="facts">
{% for name, value in values.items() %}<tr><td>{{ name }}</td><td>{{ value }}</td></tr>
{% endfor %}</table>{% endmacro %}
{{ facts(facts_) }}
{% for section in sections %}
{% if section.chapter %}<h2>{{ section.chapter }}</h2>{% endif %}
{% if section.title %}<h3>{{ section.title }}</h3>{% endif %}
{% if section.figure is not none %}<figure>
<img alt="{{ section.title }}" src="data:image/png;base64,{{ pictures[section.name] }}">
<figcaption>{{ section.caption }}</figcaption></figure>
{% elif section.caption %}<p>{{ section.caption }}</p>{% endif %}
{% if section.facts %}{{ facts(section.facts) }}{% endif %}
{% if section.rows %}<table>
<tr>{% for name in section.columns %}<th>{{ name }}</th>{% endfor %}</tr>
{% for row in section.rows %}<tr>
{%- for cell in row %}<td{% if cell is number %} class="number"{% endif %}>
{{- "%.2f"|format(cell) if cell is float else cell }}</td>{% endfor %}</tr>
{% endfor %}</table>{% endif %}
{% endfor %}
</html>
"""


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
    """

    name: str
    title: str
    caption: str = ""
    figure: Any = None
    chapter: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()


def write_report(
    folder: str | Path,
    title: str,
    facts: Mapping[str, Any],
    sections: list[Section],
    *,
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
    page = library("jinja2", "Reports").Environment(autoescape=True).from_string(TEMPLATE)
    path = folder / "report.html"
    with whole_file(path) as file:
        text = page.render(title=title, facts_=facts, sections=sections, pictures=pictures)
        file.write(text.encode("utf-8", "replace"))
    return path


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
    for section in followed(drawn, len(drawn), "drawing"):
        for kind, about in (("svg", {"Date": None}), ("png", {})):
            buffer = io.BytesIO()
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
                section.figure.savefig(buffer, format=kind, dpi=dpi, metadata=about)
            with whole_file(folder / "figures" / f"{section.name}.{kind}") as file:
                file.write(buffer.getvalue())
        yield section.name, buffer.getvalue()
