"""Write the page of benchmarks from its templates and from the numbers of the results.

Each file ``pages/<name>.md.jinja`` is a section. It reads numbers by ``results(name)``, which is
what ``results/<name>.json`` holds, and may set ``peers``, packages whose versions stand in its last
line. The page of charts is written in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan, nan
from pathlib import Path
from statistics import geometric_mean, median

from benchmark_records import load
from templates import Section, environment, number

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = (
    *("peers", "coding", "coding-cases", "sparse-model", "files", "divergences", "networks"),
    *("links", "forecasts", "etth2", "traffic", "unmixing", "denoising"),
    *("shared-atoms", "labels"),
    *(
        "walks",
        "tensors",
        "ground",
        "at-hand",
        "guides",
        "learning",
        "first-use",
        "cost",
        "flat-memory",
        "consensus",
        "verdicts",
        "cells",
    ),
    *("rare-parts", "signatures", "sources", "coherence"),
    *("drift", "outliers", "entry-weights", "real-streams", "engine", "notes"),
)
CHARTS = "measured"  # the template of the page of charts


def entries(rows: dict[str, dict], name: str) -> dict[str, float]:
    """Return one entry of each row."""
    return {key: row[name] for key, row in rows.items()}


def over(rows: Iterable[dict], top: str, bottom: str) -> list[float]:
    """Return the ratio of two entries of each row, NaN where there is nothing to compare with."""
    return [row[top] / row[bottom] if row[bottom] else nan for row in rows]


def sides(row: dict, name: str) -> float:
    """Return what ours has of something over what NMF has."""
    return row["ours"][name] / row["NMF"][name]


def over_the_end(row: dict) -> tuple[float, float]:
    """Return the loss and the time of ours over those of the best batch run to its end."""
    end = row["batch to its end"]
    return row["ours"]["loss"] / min(end["losses"]), row["ours"]["seconds"] / end["seconds"]


def ends(row: dict, longer: list[list[float]] | None, atom: dict[str, float]) -> dict[str, float]:
    """Return what each contender has at its end under one loss of the benchmark of divergences."""
    found = {"atomstream": row["ours"][-1][1], "batch, 200 rounds": row["batch"][-1][1]}
    if longer:
        found["coordinate descent"] = longer[-1][1]
    if "MiniBatchNMF" in row:
        found["MiniBatchNMF"] = min(value for _, value in row["MiniBatchNMF"])
    return found | {"one atom": atom.get("median ratios", atom["exact codes"])}


def below_ours(found: dict[str, dict[str, float]]) -> str:
    """Return which rivals end below ours, and under which losses; found is by loss."""
    told: dict[str, list[str]] = {}
    for loss, values in found.items():
        for name, value in values.items():
            if value < values["atomstream"]:
                told.setdefault(name, []).append(loss)
    lists = {name: " and".join(", ".join(them).rsplit(",", 1)) for name, them in told.items()}
    return "; ".join(f"{name} under {losses}" for name, losses in lists.items())


def alone_over(run: dict) -> float:
    """Return the percent by which one worker alone ends above slots; below 0 it is better."""
    return 100 * (min(run["one worker"].values()) / run["error"] - 1)


def gain(row: dict, name: str, other: str) -> float:
    """Return the decibels by which one method is above another on a picture."""
    return row[name]["psnr"] - row[other]["psnr"]


def off(pair: list[float]) -> float:
    """Return by which factor one number is above or below another."""
    return max(pair[0] / pair[1], pair[1] / pair[0])


def even_picture(name: str) -> bool:
    """Return whether the number of a picture is even."""
    return int(name.split()[-1]) % 2 == 0


def middle(values: Iterable[float]) -> float:
    """Return the median of the numbers that are not NaN."""
    return median(value for value in values if not isnan(value))


def time_to(curve: list[list[float]], goal: float, rising: bool = False) -> float | None:
    """Return the seconds of the first point at or below a value, or if rising at or above it."""
    sign = -1 if rising else 1
    return next((seconds for seconds, value in curve if sign * value <= sign * goal), None)


def quickest(table: dict[str, dict], above: float, ours: bool) -> dict | None:
    """Return the quickest row of ours, or of others, within so many percent of the best error."""
    near = [
        {"name": name, **row}
        for name, row in table.items()
        if name.startswith("online") == ours and row["above best, %"] <= above
    ]
    return min(near, key=lambda row: row["seconds"], default=None)


def seconds(value: float | None, places: int) -> str:
    """Return seconds, or that a goal was never reached."""
    return "never" if value is None else number(value, places)


def read(names: Iterable[str]) -> list[Section]:
    """Return the sections of these templates."""
    templates = environment(ROOT / "benchmarks/pages")
    templates.filters |= {"entries": entries, "over": over, "time_to": time_to, "seconds": seconds}
    templates.filters |= {"geometric": geometric_mean, "median": middle, "sides": sides}
    templates.filters |= {"over_the_end": over_the_end, "gain": gain, "off": off}
    templates.filters |= {"alone_over": alone_over, "ends": ends, "below_ours": below_ours}
    templates.filters |= {"quickest": quickest}
    templates.tests |= {"starting": str.startswith, "ending": str.endswith}
    templates.tests |= {"even_picture": even_picture}
    found = [Section(name, load) for name in names]
    for section in found:
        section.read(templates)
    return found


def pages() -> dict[str, str]:
    """Return the text of each page by its path."""
    texts = {each.name: str(each) for each in read(SECTIONS)}
    [charts] = read([CHARTS])
    return {
        "benchmarks/RESULTS.md": "\n".join(texts.values()),
        "docs/measured.md": str(charts.said).strip() + "\n",
    }


if __name__ == "__main__":
    for name, text in pages().items():
        (ROOT / name).write_text(text, encoding="utf-8")
