"""The verbs that look at a run or a model file; they know its look, never the model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import Any

import click
import numpy as np

from atomstream.base.checks import counted
from atomstream.base.extras import library
from atomstream.base.progress import track
from atomstream.cli.options import warn
from atomstream.exceptions import InputError
from atomstream.io.files import whole_file
from atomstream.io.inputs import STANDARD_INPUT
from atomstream.io.outputs import Columns, check_out, code_writer, printable, write_table
from atomstream.looks.edits import read_edits
from atomstream.looks.look import look_of
from atomstream.looks.pages import edited_table, edits_of, n_atoms_of, sections_of, write_page
from atomstream.looks.record import Record, Table, cell
from atomstream.looks.report import write_figures
from atomstream.runs.record import open_record
from atomstream.runs.task import forward_warnings, making_sense
from atomstream.watch.lives import lives_of

BAR = 24  # signs of a full bar on the screen
WIDTH = 118
LIVES = "atoms_over_time.csv"


def encode(
    run: Path,
    inputs: tuple[str, ...],
    out: Path,
    ids: tuple[str, ...],
    on_bad_line: str | None,
    as_json: bool,
) -> int:
    """Write codes, block by block, behind the columns that name rows."""
    record = open_record(run)
    look, writer = look_of(record.model), code_writer(out)
    check_out(out, *(name for name in inputs if name != STANDARD_INPUT))
    if ids and not look.has_ids:
        kind = f"{run} has learned from {look.learned_from}"
        raise InputError(f"--id names columns of tables or documents, and {kind}.")
    if ids and out.suffix == ".npz":
        raise InputError(f"{out} holds codes alone; for --id end it in .csv or .parquet.")
    if on_bad_line is not None:
        if not look.skips:
            kind = f"{run} has learned from {look.learned_from}"
            raise InputError(f"--on-bad-line is for rows of numbers, and {kind}.")
        record = replace(record, skips=on_bad_line == "skip")
    encoded, n_rows, n_skipped = look.encode(record, inputs, ids), 0, 0
    edits = replace(edits_of(record), n_atoms=encoded.n_atoms)
    edits = edits if look.has_ids else replace(edits, made={})
    names, columns = edits.columns(encoded.atom), encoded.labels
    with (
        forward_warnings(warn),
        whole_file(out) as file,
        writer(file, Columns(names, columns)) as write,
    ):
        for labels, codes in track(edits.codes(encoded), None, "encoding"):
            write(labels, codes)
            n_rows += len(codes)
            n_skipped += int(np.isnan(codes).any(axis=1).sum())
    skipped = {"skipped": n_skipped} if record.skips_bad_rows else {}
    return print_facts({"out": str(out), "rows": n_rows, "atoms": len(names)} | skipped, as_json)


def reconstruct(run: Path, source: Path, out: Path | None, stride: int, as_json: bool) -> int:
    """Rebuild an input, and print how close it is."""
    record = open_record(run)
    with forward_warnings(warn):
        facts = look_of(record.model).reconstruct(record, source, out, stride)
    return print_facts(facts, as_json)


def inspect(run: Path, as_json: bool) -> int:
    """Show a run on one screen."""
    record = open_record(run)
    with making_sense(run):
        return _show(record, run, as_json)


def _show(record: Record, run: Path, as_json: bool) -> int:
    look = look_of(record.model)
    figures, table = look.quality(record), edited_table(record, 10)
    if as_json:
        keys = (table.name, *table.columns)
        rows = [dict(zip(keys, row, strict=True)) for row in table.rows]
        numbers = {"run": str(run), **_numbers(record), "held_out": figures}
        click.echo(json.dumps(numbers | {f"{table.name}s": rows}))
        return 0
    facts = look.facts(record)
    inputs = [] if record.settings is None else list(record.settings.inputs)
    if inputs:
        facts["inputs"] = ", ".join(inputs[:3]) + (" ..." if len(inputs) > 3 else "")
    facts |= {name: f"{value:.4g} ({look.quality_on})" for name, value in figures.items()}
    click.echo(f"{run}")
    width = max(map(len, facts))
    for name, value in facts.items():
        room = WIDTH - width - 4
        lines = wrap(str(value), room, break_long_words=False, break_on_hyphens=False) or [""]
        click.echo(printable(f"  {name:<{width}}  {lines[0]}"))
        for line in lines[1:]:
            click.echo(printable(f"  {'':<{width}}  {line}"))
    for line in _lines(table):
        click.echo(printable(f"  {line}".rstrip()[:WIDTH]))
    return 0


def _numbers(record: Record) -> dict[str, Any]:
    """Return what machines ask of any run."""
    model, learner = record.model, record.learner
    components = getattr(learner, "components_", None)
    objective = record.objective if hasattr(learner, "batch_objective_") else float("nan")
    return {
        "model": type(model).__name__,
        "components": None if components is None else len(components),
        "features": getattr(learner, "n_features_in_", None),
        "samples": getattr(learner, "n_samples_seen_", None),
        "steps": getattr(learner, "n_steps_", None),
        "objective": objective if np.isfinite(objective) else None,
        "complete": record.complete,
        "position": record.notes.get("position"),
        "seconds": record.notes.get("seconds"),
    }


def _lines(table: Table) -> list[str]:
    """Return a table of atoms as lines of text, with a bar for the first share of each row."""
    heads = [key.removesuffix("_share") for key in table.numbers]
    lines = [f"{table.name:>7}  " + " ".join(f"{head:>9}" for head in heads)]
    places = [place for place, key in enumerate(table.columns, 1) if key != "features"]
    shares = [place for place in places if table.rows and isinstance(table.rows[0][place], float)]
    most = max((row[shares[0]] for row in table.rows), default=1.0) if shares else 1.0
    for row in table.rows:
        cells = " ".join(f"{cell(row[place]):>9}" for place in places)
        bar = "=" * round(BAR * row[shares[0]] / max(most, 1e-12)) if shares else ""
        text = row[-1] if "features" in table.columns else ""
        lines.append(f"{row[0]:>7}  {cells}  {bar:<{BAR}}  {text}")
    return lines


def report(run: Path, as_json: bool) -> int:
    """Write the report."""
    _check_plots()
    record = open_record(run)
    with making_sense(run):
        lives = lives_of(record.history, record.notes)
        page = write_page(record, record.results, record.path.resolve().name)
    if lives.moments:
        write_table(record.results / LIVES, lives.columns, lives.rows())
    return print_facts({"report": str(page), "figures": str(page.parent / "figures")}, as_json)


def plot(run: Path, as_json: bool) -> int:
    """Write the pictures."""
    _check_plots()
    record = open_record(run)
    with making_sense(run):
        sections = sections_of(record)
    written = write_figures(record.results, sections)
    return print_facts({"figures": [str(path) for path in written]}, as_json)


def edit(run: Path, edits: Path, as_json: bool) -> int:
    """Apply a list of edits, and print what it holds."""
    record = open_record(run)
    with making_sense(run):
        found = read_edits(edits, n_atoms_of(record))
    identity = record.notes.get("run", "")
    if found.run and identity and found.run != identity:
        raise InputError(f"{edits} was made from the report of another run than {run}.")
    steps = int(record.learner.n_steps_)
    if found.step and found.step != steps:
        warn(
            f"{edits} was made after {counted(found.step, 'step')}, {run} has made {steps}: look "
            "whether the atoms are still what they were."
        )
    written = found.write(record.results)
    return print_facts({"edits": str(written), **found.counts()}, as_json)


def _check_plots() -> None:
    library("matplotlib", "Pictures")
    library("jinja2", "Reports")


def print_facts(facts: dict[str, Any], as_json: bool) -> int:
    """Print facts, as lines or as JSON, and return the exit code."""
    if as_json:
        click.echo(json.dumps(facts))
        return 0
    for name, value in facts.items():
        click.echo(f"{name}: {', '.join(value) if isinstance(value, list) else value}")
    return 0
