"""The verbs that look at a run or a model file; they know its look, never the model."""

import json
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import Any

import click
import numpy as np

from atomstream.base import counted, library, printable, told, track
from atomstream.cli.options import (
    as_json,
    count_option,
    guesses_kept,
    options_of,
    path_option,
    run_argument,
    warn,
)
from atomstream.exceptions import InputError
from atomstream.io import STANDARD_INPUT, expanded, whole_file
from atomstream.io.outputs import check_columns, check_out, code_writer, write_table
from atomstream.looks.look import look_of
from atomstream.looks.pages import edited_table, edits_of, n_atoms_of, sections_of, write_page
from atomstream.looks.record import Record, Table, cell, read_edits
from atomstream.looks.report import write_figures
from atomstream.runs import forward_warnings, making_sense, open_record
from atomstream.runs.reading import reading_of, triple_reading
from atomstream.watch import alarms_of, lives_of
from atomstream.watch.diagnostics import BEYOND_MEANS, UNEXPLAINED

BAR = 24  # characters of a full bar on the screen
WIDTH = 118
LIVES = "atoms_over_time.csv"


@click.command()
@run_argument
@click.argument("inputs", nargs=-1, required=True)
@path_option("--out", "codes.parquet, codes.csv or codes.npz.", required=True)
@click.option(
    "--id", "ids", multiple=True, help="Column that names the rows, written before the codes."
)
@click.option(
    "--on-bad-line",
    type=click.Choice(["raise", "skip"]),
    help="raise: a line that cannot be coded ends the command; skip: its codes are NaN "
    "(default: as in the settings of RUN, else raise).",
)
@path_option("--uncertainty", "Table of the uncertainties of concentrations.")
@as_json
def encode(
    run: Path,
    inputs: tuple[str, ...],
    out: Path,
    ids: tuple[str, ...],
    on_bad_line: str | None,
    uncertainty: Path | None,
    as_json: bool,
    **reading: Any,
) -> int:
    """Write the codes of INPUTS under the dictionary of RUN, or of a model file.

    The codes of a row are in the columns atom_0, atom_1 and so on; those of a document are the
    shares of the topics in it, topic_0, topic_1 and so on; those of concentrations are what each
    factor contributes, factor_0, factor_1 and so on, over its mean in RUN. Before them come the
    columns of --id, here or in the settings of RUN, an index that pandas has written, dates, and
    the names of files where each is one sample. Tables are read as RUN has read its own, unless
    options say otherwise.
    """
    record, inputs = open_record(run), tuple(expanded(inputs))
    look, writer = look_of(record.model, record.task), code_writer(out)
    # Before hours of coding: the result must not overwrite an input.
    beside = () if uncertainty is None else (uncertainty,)
    check_out(out, *beside, *(name for name in inputs if name != STANDARD_INPUT))
    kind = f"{run} has learned from {look.files.learned_from}"
    if ids and not look.files.has_ids:
        raise InputError(f"--id names columns of tables or documents, and {kind}.")
    if ids and out.suffix == ".npz":
        raise InputError(f"{out} holds codes alone; for --id end it in .csv or .parquet.")
    if beside and not look.files.weighs:
        raise InputError(f"--uncertainty is for concentrations, and {kind}.")
    record = replace(record, uncertainty=uncertainty)
    if on_bad_line is not None:
        if not look.files.skips:
            raise InputError(f"--on-bad-line is for rows of numbers, and {kind}.")
        record = replace(record, skips=on_bad_line == "skip")
    how = reading_of(reading)
    if how and not look.files.reads_tables:
        raise InputError(f"--{next(iter(how))} is for tables, and {kind}.")
    record = replace(record, reading=how)
    with guesses_kept() as guesses:
        encoded, n_rows, n_skipped = look.files.encode(record, inputs, ids), 0, 0
    edits = replace(edits_of(record), n_atoms=encoded.n_atoms)
    # Merging and rejecting is for atoms that were looked at in a report; others are written as they
    # are.
    edits = edits if look.files.has_ids else replace(edits, made={})
    names, columns = edits.columns(encoded.atom), encoded.labels
    check_columns(names, columns)
    with forward_warnings(warn), whole_file(out) as file, writer(file, names, columns) as write:
        for labels, codes in track(edits.codes(encoded), None, "encoding"):
            write(labels, codes)
            n_rows += len(codes)
            n_skipped += int(np.isnan(codes).any(axis=1).sum())
    skipped: dict[str, Any] = {"skipped": n_skipped} if record.skips_bad_rows else {}
    if guesses and as_json:
        skipped["guesses"] = guesses
    elif guesses:
        click.echo("\n".join(guesses), err=True)
    return print_facts({"out": str(out), "rows": n_rows, "atoms": len(names)} | skipped, as_json)


# Before the last, which is --json. What was learned decides on the columns.
encode.params[-1:-1] = [
    each
    for each in options_of(triple_reading)
    if each.name not in ("columns", "drop", "on_bad_line")
]


@click.command()
@run_argument
@click.argument("source", metavar="INPUT", type=click.Path(path_type=Path))
@path_option("--out", "File to write; by default in the folder of RUN.")
@count_option("--stride", "Pixels between the patches of an image.", least=1, default=2)
@as_json
def reconstruct(run: Path, source: Path, out: Path | None, stride: int, as_json: bool) -> int:
    """Rebuild INPUT, an image or a network, from the atoms of RUN or of a model file."""
    record = open_record(run)
    with forward_warnings(warn):
        facts = look_of(record.model, record.task).files.reconstruct(record, source, out, stride)
    return print_facts(facts, as_json)


@click.command()
@run_argument
@as_json
def inspect(run: Path, as_json: bool) -> int:
    """Show on one screen what RUN has learned, from which inputs, and how far it is."""
    record = open_record(run)
    look = look_of(record.model, record.task)
    with making_sense(run), forward_warnings(warn):
        # Ten rows fit on a screen together with the facts.
        figures, table = look.quality(record), edited_table(record, 10)
        facts = {} if as_json else look.facts(record)
    # Machines get numbers and no sentences.
    if as_json:
        keys = (table.name, *table.columns)
        rows = [dict(zip(keys, row, strict=True)) for row in table.rows]
        numbers = {"run": str(run), **_numbers(record), "held_out": figures}
        click.echo(json.dumps(numbers | {f"{table.name}s": rows}))
        return 0
    inputs = [] if record.settings is None else list(record.settings.inputs)
    if inputs:
        facts["inputs"] = ", ".join(inputs[:3]) + (" ..." if len(inputs) > 3 else "")
    remark = look.remark(figures)
    left, beyond = figures.pop(UNEXPLAINED, None), figures.pop(BEYOND_MEANS, None)
    facts |= {name: f"{value:.4g} ({look.quality_on})" for name, value in figures.items()}
    if left is not None:  # what people ask first
        explained = f"{100 * (1 - left):.6g} % of the energy"
        if beyond is not None:
            explained += f", {100 * (1 - beyond):.4g} % of what the means of the columns leave"
        facts = {"explained": f"{explained} ({look.quality_on})"} | facts
    if remark is not None:
        facts["remark"] = remark
    if record.chosen:
        facts["chosen"] = told(record.chosen)
    if alarms := alarms_of(record.history):
        last = ", ".join(f"{place:,}" for place in alarms[-3:])
        facts["alarms"] = f"{len(alarms)}: the stream changed by {last} samples"
    click.echo(f"{run}")
    width = max(map(len, facts))
    for name, value in facts.items():
        room = WIDTH - width - 4
        # Long values go on below themselves, so that names stay a column.
        lines = wrap(str(value), room, break_long_words=False, break_on_hyphens=False) or [""]
        click.echo(printable(f"  {name:<{width}}  {lines[0]}"))
        for line in lines[1:]:
            click.echo(printable(f"  {'':<{width}}  {line}"))
    for line in table_lines(table):
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
        "chosen": {name: choice.as_dict() for name, choice in record.chosen.items()},
        "alarms": alarms_of(record.history),
        "position": record.notes.get("position"),
        "seconds": record.notes.get("seconds"),
    }


def table_lines(table: Table, bar_length: int = BAR) -> list[str]:
    """Return a table of atoms as lines of text, perhaps with a bar for the first share of each."""
    columns = enumerate(table.columns.items(), 1)
    heads = {place: f"{head:>9}" for place, (key, head) in columns if key != "features"}
    lines = [f"{table.name:>7}  " + " ".join(heads.values())]
    shares = [place for place in heads if table.rows and isinstance(table.rows[0][place], float)]
    most = max((row[shares[0]] for row in table.rows), default=1.0) if shares else 1.0
    for row in table.rows:
        cells = " ".join(f"{cell(row[place]):>{len(head)}}" for place, head in heads.items())
        bar = "=" * round(bar_length * row[shares[0]] / max(most, 1e-12)) if shares else ""
        text = row[-1] if "features" in table.columns else ""
        lines.append(f"{row[0]:>7}  {cells}  {bar:<{bar_length}}  {text}")
    return lines


@click.command()
@run_argument
@as_json
def report(run: Path, as_json: bool) -> int:
    """Write RUN/report.html, one page with all pictures inside, and the pictures as PNG and SVG."""
    _check_plots()
    record = open_record(run)
    with making_sense(run), forward_warnings(warn):
        lives = lives_of(record.history, record.notes)
        page = write_page(record, record.results, _subject(record))
    # Needs at least two snapshots, which a short run has not.
    if lives.moments:
        write_table(record.results / LIVES, lives.columns, lives.rows())
    return print_facts({"report": str(page), "figures": str(page.parent / "figures")}, as_json)


@click.command()
@run_argument
@as_json
def plot(run: Path, as_json: bool) -> int:
    """Write the pictures of RUN as PNG and SVG into RUN/figures."""
    _check_plots()
    record = open_record(run)
    with making_sense(run), forward_warnings(warn):
        sections = sections_of(record)
    written = write_figures(record.results, sections)
    return print_facts({"figures": [str(path) for path in written]}, as_json)


@click.command()
@run_argument
@click.argument("edits", type=click.Path(path_type=Path))
@as_json
def edit(run: Path, edits: Path, as_json: bool) -> int:
    """Apply EDITS, a list saved from the report, to RUN or a model file.

    The model does not change, and neither does what a run learns. Names stand in the tables and
    codes that are written from now on; the shares and codes of atoms that were merged are added;
    rejected atoms are left out of both, hidden ones of tables. A new list replaces the one before.
    """
    record = open_record(run)
    with making_sense(run), forward_warnings(warn):
        found = read_edits(edits, n_atoms_of(record))
    identity = record.notes.get("run", "")
    # A list made by hand has no run and no step, and is taken as meant.
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


def _subject(record: Record) -> str:
    """Return what a report is of: the names of the inputs, or that of the model file."""
    inputs = [] if record.settings is None else record.settings.inputs
    names = ["standard input" if name == STANDARD_INPUT else Path(name).name for name in inputs]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more or record.path.resolve().name


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
