"""One self-contained HTML page to send to a colleague: no network, no scripts, every name escaped."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Section", "write_report"]

TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
img { max-width: 100%; height: auto } figure { margin: 0 } figcaption { color: #555; font-size: .9rem }
table { border-collapse: collapse } td { padding: .15rem 1.2rem .15rem 0; vertical-align: top }
td:first-child { color: #555 }
@media print { body { margin: 0 } figure { break-inside: avoid } }
</style>
<h1>{{ title }}</h1>
<table>
{% for name, value in facts.items() %}<tr><td>{{ name }}</td><td>{{ value }}</td></tr>
{% endfor %}</table>
{% for section in sections %}
<h2>{{ section.title }}</h2>
<figure><img alt="{{ section.title }}" src="data:image/png;base64,{{ section.picture }}">
<figcaption>{{ section.caption }}</figcaption></figure>
{% endfor %}
</html>
"""


@dataclass(frozen=True)
class Section:
    """One figure of a report.

    Attributes
    ----------
    name : str
        File name of the picture, without ending.
    title, caption : str
    figure : matplotlib.figure.Figure
    """

    name: str
    title: str
    caption: str
    figure: Any


def write_report(
    folder: str | Path, title: str, facts: Mapping[str, Any], sections: list[Section], *, dpi: int = 110
) -> Path:
    """Write ``report.html`` with its figures inside, and each figure as PNG under ``figures/``.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    title : str
    facts : mapping of str to values
        The table at the top.
    sections : list of Section
    dpi : int, default=110
        Dots per inch of the pictures.

    Returns
    -------
    pathlib.Path
        Of the page.
    """
    from jinja2 import Environment

    folder = Path(folder)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    shown = []
    for section in sections:
        buffer = io.BytesIO()
        section.figure.savefig(buffer, format="png", dpi=dpi)
        (folder / "figures" / f"{section.name}.png").write_bytes(buffer.getvalue())
        picture = base64.b64encode(buffer.getvalue()).decode("ascii")
        shown.append({"title": section.title, "caption": section.caption, "picture": picture})
    page = Environment(autoescape=True).from_string(TEMPLATE)
    path = folder / "report.html"
    path.write_text(page.render(title=title, facts=dict(facts), sections=shown), encoding="utf-8")
    return path
