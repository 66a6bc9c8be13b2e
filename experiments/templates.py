"""Text from Jinja templates and records, with numbers written as a reader expects them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from math import log
from pathlib import Path
from statistics import fmean, linear_regression
from textwrap import fill
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


@dataclass
class Section:
    """What a template says, and the records that it uses.

    Attributes
    ----------
    name : str
        Name of the template without its ending.
    load : callable
        Returns a record by its name.
    records : dict
        The records that were read, by name.
    said : jinja2.environment.TemplateModule
        What the template says and sets.
    """

    name: str
    load: Callable[[str], dict]
    records: dict[str, dict] = field(default_factory=dict)
    said: Any = None

    def record(self, name: str) -> dict:
        """Return a record, and remember it."""
        self.records[name] = self.load(name)
        return self.records[name]

    def results(self, name: str) -> Any:
        """Return the results of a record, and remember the record."""
        return self.record(name)["results"]

    def read(self, templates: Environment, **words: Any) -> None:
        """Let the template say what it says; ``words`` are names that it may use."""
        words |= {"record": self.record, "results": self.results}
        self.said = templates.get_template(f"{self.name}.md.jinja").make_module(words)

    @property
    def sources(self) -> str:
        """Which code gave the records, when, and the versions of the peers that are known."""
        said = [source(*each) for each in sorted(self.records.items())]
        versions = [record["versions"] for record in self.records.values()]
        peers = getattr(self.said, "peers", ())
        known = {
            f"{name} {each[name]}": None for name in peers for each in versions if name in each
        }
        return " ".join([*said, *([f"Peers: {', '.join(known)}."] if known else [])])

    def __str__(self) -> str:
        return f"{wrapped(str(self.said))}\n\n<sub>{self.sources}</sub>\n"


def source(name: str, record: dict) -> str:
    """Return which code gave a record, when, in how long and on which processor."""
    if record["seconds"] is None:
        return f"{name}: committed in {record['commit']}, {record['date']}."
    changed = " with uncommitted changes" if record["changed"] else ""
    processor = record["machine"]["processor"].replace("(R)", "").removesuffix(" Processor")
    took = f"{record['seconds']:,.0f} s on {processor}"
    return f"{name}: commit {record['commit']}{changed}, {record['date']}, {took}."


def wrapped(text: str) -> str:
    """Return a text with its paragraphs in lines of at most 100 characters; tables stay as rows."""
    blocks = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(
        re.sub(r" +$", "", block, flags=re.MULTILINE)
        if block.startswith(("|", "- ", "!["))
        else fill(" ".join(block.split()), 100, break_long_words=False, break_on_hyphens=False)
        for block in blocks
    )


def number(value: float, places: int = 0) -> str:
    """Return a number with so many places, thousands apart, and zero without a sign."""
    return f"{round(value, places) + 0.0:,.{places}f}"


def percent(value: float, places: int = 0) -> str:
    """Return a share as a percentage."""
    return f"{number(100 * value, places)} %"


def listed(values: Iterable[float], places: int = 0) -> str:
    """Return numbers with commas, the last one after an "and"."""
    *rest, last = [number(value, places) for value in values]
    return f"{', '.join(rest)} and {last}" if rest else last


def exponent(values: list[float], steps: list[int], first: int, last: int) -> float:
    """Return the exponent of the power law through values, from a first step to a last one."""
    points = [(log(t), log(y)) for t, y in zip(steps, values, strict=True) if first <= t <= last]
    return linear_regression(*zip(*points, strict=True)).slope


def short(value: float) -> str:
    """Return three significant digits, by a power of ten where the number is large."""
    return f"{value:.3g}".replace("e+0", "e")


@cache
def environment(folder: Path) -> Environment:
    """Return the templates of a folder with the filters that write numbers."""
    made = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    made.filters |= {"n": number, "percent": percent, "listed": listed, "short": short}
    made.filters |= {"mean": fmean, "exponent": exponent}
    return made
