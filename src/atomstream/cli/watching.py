"""``watch``: a run in the terminal while it learns, from its history and its newest model."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from atomstream.base import counted, printable
from atomstream.cli.looking import table_lines
from atomstream.cli.options import path_option, run_argument
from atomstream.io.files import whole_file
from atomstream.looks.pages import edited_table
from atomstream.looks.record import Record
from atomstream.runs import RunFolder, open_record
from atomstream.runs.tasks._passes import n_passes
from atomstream.watch.history import Trace, read_history

PAUSE = 1.0  # seconds between looks
DECADE = 10.0  # a factor from which on curves are logarithmic
SILENT = 10.0  # seconds without a new point after which a run counts as stopped
MOST_ATOMS, MOST_PIXELS = 8, 8  # atoms shown; height and width of their pictures
LEVELS, SHADES = "▁▂▃▄▅▆▇█", " ░▒▓█"
MARKS = {"n_alarms": "Change of the stream", "n_changeovers": "The schedule left the past behind"}
MOST_MARKS = 2  # changes of the stream that are listed, the last ones
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>A run of atomstream</title>
<style>:root {{ color-scheme: light dark }} pre {{ font-size: 15px; line-height: 1.25 }}</style>
</head>
<body><pre>{code}</pre></body>
</html>
"""
REFRESH = '<meta http-equiv="refresh" content="5">'


@click.command()
@run_argument
@click.option("--once", is_flag=True, help="Show it once, and end.")
@path_option("--html", "Page to write as well; it loads itself again while the run goes on.")
def watch(run: Path, once: bool, html: Path | None) -> int:
    """Follow RUN in the terminal: how the objective falls, how atoms move, what they are.

    It ends when the run is complete or its process has ended. Ctrl-C ends the watching; the run
    goes on.
    """
    folder = RunFolder(run)
    folder.check()
    screen = _Screen(folder)
    console = Console()
    # A pipe or a file gets the screen once: nothing could be overwritten there.
    if once or not console.is_terminal:
        # The live screen disappears when it is left; what it showed last stays in the terminal.
        console.print(screen.shown(console.width))
        _write(html, screen, refresh=False)
        return 0
    first = screen.shown(console.width, console.height)
    with Live(first, console=console, auto_refresh=False, screen=True) as live:
        try:
            while folder.at_work:
                time.sleep(PAUSE)
                live.update(screen.shown(console.width, console.height), refresh=True)
                _write(html, screen, refresh=True)
        except KeyboardInterrupt:
            pass  # the run goes on
    console.print(screen.shown(console.width))
    if not (screen.complete or folder.at_work):
        console.print(f"The run has stopped; continue it with: atomstream resume {run}")
    _write(html, screen, refresh=False)
    return 0


def _write(html: Path | None, screen: _Screen, *, refresh: bool) -> None:
    """Write the screen as a page that loads itself again while the run goes on."""
    if html is None:
        return
    # Into a buffer: recording prints too, and the terminal has its own screen.
    page = Console(record=True, width=80, file=io.StringIO())
    page.print(screen.shown(80))
    text = page.export_html(inline_styles=True, code_format=PAGE)
    with whole_file(html) as file:
        file.write(text.replace("<head>", f"<head>{REFRESH * refresh}", 1).encode())


class _Screen:
    """What is known of a run now; files are read again when they have changed.

    Parameters
    ----------
    folder : RunFolder
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._record: Record | None = None
        self._seen: dict[Path, float] = {}
        self._trace = Trace()

    @property
    def complete(self) -> bool:
        """Whether all that was asked for is done."""
        return self._record is not None and bool(self._record.complete)

    def shown(self, width: int, height: int = 1000) -> RenderableType:
        """Return all of it, no wider than ``width``; atoms as far as there is room for them."""
        self._read()
        head = Text(printable(f"{self._state()}: {self._folder.path}"), style="bold", no_wrap=True)
        if self._record is None and not self._trace.n_samples:
            return Group(head, Text("Nothing has been learned yet."))
        left = _left(self._record, self._trace)
        curves = _curves(self._trace, width, left) if self._trace.n_samples else []
        return Group(head, *curves, *self._atoms(width, height - 1 - len(curves)))

    def _read(self) -> None:
        history = self._folder.path / "history.jsonl"
        # Two files, for points are written every few seconds and models every minute.
        if self._changed(history):
            self._trace = read_history(history)
        if self._changed(self._folder.model):
            self._record = open_record(self._folder.path)

    def _changed(self, path: Path) -> bool:
        found = path.stat().st_mtime if path.exists() else 0.0
        # By the time of change: a file is replaced whole, so its size may stay.
        before, self._seen[path] = self._seen.get(path, 0.0), found
        return found != before

    def _state(self) -> str:
        """Return how far the run is, in words."""
        at_work = self._folder.at_work
        if self.complete and not at_work:  # a stream that had ended may go on
            return "complete"
        latest = max(self._seen.values())
        if latest and time.time() - latest > SILENT:
            return f"no news for {_duration(time.time() - latest)}"
        return "learning" if at_work else "stopped"

    def _atoms(self, width: int, height: int) -> list[RenderableType]:
        """Return the most important atoms, as small pictures and with what they are made of."""
        if self._record is None:
            return [Text(), Text("Atoms are shown once the first checkpoint is written.")]
        table = edited_table(self._record, MOST_ATOMS)
        pictures = _pictures(self._record, [row[0] for row in table.rows], width)
        pictures = pictures or [Text()]
        # Cut here, for a live screen that is too long would scroll.
        rows = table.rows[: max(height - len(pictures) - 1, 1)]  # below the heads of the table
        lines = table_lines(replace(table, rows=rows), bar_length=0)
        style: dict[str, Any] = {"no_wrap": True, "overflow": "ellipsis"}
        return [*pictures, *(Text(printable(line).rstrip(), **style) for line in lines)]


def _left(record: Record | None, trace: Trace) -> str:
    """Return how long the passes that are left will take, as soon as one is complete."""
    if record is None or record.complete or not trace.n_samples:
        return ""
    a_pass = record.notes.get("horizon", np.inf)
    # Other goals are reached at a pace that the first pass does not tell.
    if getattr(record.task, "goal", None) != "epochs" or not 0 < a_pass < np.inf:
        return ""
    total = a_pass * n_passes(record.settings.epochs, a_pass)
    rate, left = _rate(trace), total - trace.n_samples[-1]
    return f", {_duration(left / rate)} left" if left > 0 and rate > 0 else ""


def _curves(trace: Trace, width: int, left: str = "") -> list[RenderableType]:
    """Return the numbers of the history: the latest of each, and how it went."""
    points = trace.points
    seconds, told = points["seconds"][-1], f"{trace.n_samples[-1]:,} samples"
    if seconds > 0:
        told += f" in {counted(points['step'][-1], 'step')}"
        told += f", {_duration(seconds)}, {_rate(trace):,.0f} samples/s{left}"
    lines: list[RenderableType] = [Text(told)]
    room = max(width - 36, 10)
    for name, title in (
        ("objective", "objective"),
        ("held_out", "on held-out rows"),
        ("moved", "atoms moved"),
        ("memory", "samples that weigh"),
        ("drift", "drift (1: an alarm)"),
    ):
        values = np.array(points[name], float)
        # What was never measured, such as rows held out where none are, has no line.
        if np.isfinite(values).any():
            last = values[np.isfinite(values)][-1]
            lines.append(Text(f"{title:<20} {last:>12.4g}  {sparkline(values, room)}"))
    marks = sorted(
        (place, what)
        for name, what in MARKS.items()
        for place in (np.flatnonzero(np.diff(points[name]) > 0) + 1).tolist()
    )
    for place, what in marks[-MOST_MARKS:]:
        text = f"{what} at {trace.n_samples[place]:,} samples"
        lines.append(Text(text, style="bold red"))
    return lines


def _rate(trace: Trace) -> float:
    """Return the samples per second over the last tenth of the points."""
    first = max(0, len(trace.n_samples) - 2 - len(trace.n_samples) // 10)
    n_samples, seconds = trace.n_samples, trace.points["seconds"]
    span = seconds[-1] - seconds[first]
    return (n_samples[-1] - n_samples[first]) / span if span > 0 else n_samples[-1] / seconds[-1]


def sparkline(values: NDArray, width: int) -> str:
    """Return a curve in one line of text: means of equal parts, from lowest to highest.

    Heights are logarithms where the means span more than a factor of ten.
    """
    parts = np.array_split(values, min(width, len(values)))
    known = [part[np.isfinite(part)] for part in parts]
    means = np.array([part.mean() if len(part) else np.nan for part in known])
    if np.nanmax(means) > DECADE * np.nanmin(means) > 0:
        means = np.log(means)
    low, high = np.nanmin(means), np.nanmax(means)
    heights = (means - low) / ((high - low) or 1.0) * (len(LEVELS) - 1)
    return "".join(" " if np.isnan(height) else LEVELS[round(height)] for height in heights)


def _pictures(record: Record, atoms: Sequence[int], width: int) -> list[RenderableType]:
    """Return atoms that are small images in shades of grey, side by side below their numbers."""
    if record.shape is None:
        return []
    pictures = record.learner.components_.reshape(-1, *record.shape)
    # The terminal has shades and no colours here.
    pictures = pictures if pictures.ndim == 3 else pictures.mean(axis=3)
    coarser = -(-max(record.shape[:2]) // MOST_PIXELS)
    pictures = pictures[:, ::coarser, ::coarser]
    n_fitting = max(width // (2 * pictures.shape[2] + 2), 1)
    side = 2 * pictures.shape[2]
    heads = "".join(f"{f'atom {atom}':<{side}.{side}}  " for atom in atoms[:n_fitting])
    lines = [""] * pictures.shape[1]
    for atom in atoms[:n_fitting]:
        grey = pictures[atom] - pictures[atom].min()
        levels = (grey / (grey.max() or 1.0) * (len(SHADES) - 1)).round().astype(int)
        for row, line in enumerate(levels):
            # Signs are about twice as high as wide.
            lines[row] += "".join(2 * SHADES[level] for level in line) + "  "
    return [Text(line, no_wrap=True) for line in (heads, *lines)]


def _duration(seconds: float) -> str:
    """Return a time in words, such as "2 h 5 min"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
