"""``network reconstruct`` and ``network denoise``."""

from __future__ import annotations

from pathlib import Path

import click

from atomstream.cli.looking import print_facts
from atomstream.cli.options import PATH, as_json, count_option, path_option, run_argument
from atomstream.cli.running import checked_aloud
from atomstream.exceptions import InputError
from atomstream.runs.record import Record, open_record
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
    run: Path, edges: Path | None, out: Path | None, steps: int, seed: int, as_json: bool
) -> int:
    """Rebuild a network (by default the one learned from) from the atoms of RUN."""
    record = _opened(run)
    facts = checked_aloud("network", lambda: view.rebuild(record, edges, out, steps, seed))
    return print_facts(facts, as_json)


@click.command()
@run_argument
@_edges
@click.option(
    "--pairs", type=click.Choice(["edges", "non-edges"]), default="edges", show_default=True
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
) -> int:
    """Rank edges that may be spurious (lowest first) or non-edges that may be missing (highest)."""
    record = _opened(run)
    facts = checked_aloud("network", lambda: view.denoise(record, edges, out, pairs, steps, seed))
    return print_facts(facts, as_json)


commands = [reconstruct, denoise]


def _opened(run: Path) -> Record:
    record = open_record(run)
    if type(record.view) is not view.NetworkView:
        raise InputError(f"{run} is no run that has learned from a network.")
    return record
