"""``network reconstruct`` and ``network denoise``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from atomstream.cli.looking import print_facts
from atomstream.cli.options import (
    PATH,
    as_json,
    count_option,
    options_of,
    path_option,
    run_argument,
)
from atomstream.cli.running import checked_aloud
from atomstream.exceptions import InputError
from atomstream.runs.record import Record, open_record
from atomstream.runs.tasks.network import edge_reading
from atomstream.runs.views import network as view

_edges = click.argument("edges", type=PATH, required=False)
_steps = count_option("--steps", "Copies of the motif to visit.", least=1, default=100_000)
_seed = count_option("--seed", "Seed of the chain.", least=0, default=0)


@click.command()
@run_argument
@_edges
@path_option("--out", "A .csv of pairs or an .npz matrix; by default in RUN.")
@_steps
@_seed
@as_json
def reconstruct(
    run: Path,
    edges: Path | None,
    out: Path | None,
    steps: int,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> int:
    """Rebuild a network (by default the one learned from) from the atoms of RUN.

    EDGES are read as the run has read its own, unless options say otherwise.
    """
    record, given = _opened(run), _given(edges, reading)
    facts = checked_aloud("network", lambda: view.rebuild(record, given, out, steps, seed))
    return print_facts(facts, as_json)


@click.command()
@run_argument
@_edges
@click.option(
    "--pairs",
    type=click.Choice(["edges", "non-edges"]),
    default="edges",
    show_default=True,
    help="Rank edges that may be spurious, lowest score first, or non-edges that may be missing, "
    "highest score first.",
)
@path_option("--out", "A .csv; by default in RUN.")
@_steps
@_seed
@as_json
def denoise(
    run: Path,
    edges: Path | None,
    pairs: str,
    out: Path | None,
    steps: int,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> int:
    """Rank pairs of nodes by how likely edges they are, with intervals.

    The score of a pair is the mean of what the copies of the motif that visited it make of it,
    drawn towards the base rate where they are few; 90 % of its law is between low and high. A pair
    that no copy visited has no score and comes last. EDGES are read as the run has read its own,
    unless options say otherwise.
    """
    record, given = _opened(run), _given(edges, reading)
    facts = checked_aloud("network", lambda: view.denoise(record, given, out, pairs, steps, seed))
    return print_facts(facts, as_json)


for command in (reconstruct, denoise):
    command.params[-1:-1] = options_of(edge_reading)
commands = [reconstruct, denoise]


def _given(edges: Path | None, reading: dict[str, Any]) -> view.Given:
    options = {name: value for name, value in reading.items() if value is not None}
    return view.Given(edges, options)


def _opened(run: Path) -> Record:
    record = open_record(run)
    if type(record.view) is not view.NetworkView:
        raise InputError(f"{run} is no run that has learned from a network.")
    return record
