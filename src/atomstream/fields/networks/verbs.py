"""``network reconstruct`` and ``network denoise``."""

from pathlib import Path
from typing import Any

import click
import numpy as np

from atomstream.cli import options
from atomstream.cli.looking import print_facts
from atomstream.cli.running import checked_aloud
from atomstream.exceptions import InputError
from atomstream.fields.networks import Network, Ranking
from atomstream.fields.networks.look import (
    REBUILT,
    NetworkLook,
    network_of,
    place_of_pairs,
    rebuild,
)
from atomstream.fields.networks.run import edge_reading
from atomstream.io.outputs import write_table
from atomstream.looks import Record, look_of
from atomstream.runs.record import open_record

_edges = click.argument("edges", type=options.PATH, required=False)
_steps = options.count_option("--steps", "Copies of the motif to visit.", least=1, default=100_000)
_seed = options.count_option("--seed", "Seed of the chain.", least=0, default=0)


@click.command()
@options.run_argument
@_edges
@options.path_option("--out", "A .csv of pairs or an .npz matrix; by default in RUN.")
@_steps
@_seed
@options.as_json
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
    record = _opened(run)

    def rebuilt() -> dict[str, Any]:
        network = _network(record, edges, reading)
        place = place_of_pairs(out, record, REBUILT, edges)
        return rebuild(record, network, place, steps, seed)

    return print_facts(checked_aloud("network", rebuilt), as_json)


@click.command()
@options.run_argument
@_edges
@options.choice_option(
    "--pairs",
    ["edges", "non-edges"],
    "Rank edges that may be spurious, lowest score first, or non-edges that may be missing, "
    "highest score first.",
)
@options.choice_option(
    "--scores",
    ["reconstruction", "fitted"],
    "What scores pairs: the reconstruction, or a fit of it together with neighbours, degrees and "
    "SVDs on edges that are hidden or planted once more.",
)
@options.path_option("--out", "A .csv; by default in RUN.")
@_steps
@_seed
@options.as_json
def denoise(
    run: Path,
    edges: Path | None,
    pairs: str,
    scores: str,
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
    record = _opened(run)

    def ranked() -> dict[str, Any]:
        """Return the facts of the ranking, which is written to its file."""
        network = _network(record, edges, reading)
        place = place_of_pairs(out, record, f"{pairs}.csv", edges)
        how = {"n_steps": steps, "random_state": seed}
        ranking = record.model.denoise(network, pairs, scores=scores, **how)
        return _written(ranking, place, pairs.replace("-", "_"))

    return print_facts(checked_aloud("network", ranked), as_json)


for command in (reconstruct, denoise):
    # Before the last, which is --json: the order of help is what to do, how to read, how to print.
    command.params[-1:-1] = options.options_of(edge_reading)


def _network(record: Record, edges: Path | None, reading: dict[str, Any]) -> Network:
    # Those left out follow the run, which may have read its own network with others.
    said = {name: value for name, value in reading.items() if value is not None}
    return network_of(record, edges, **said)


def _written(ranking: Ranking, out: Path, kind: str) -> dict[str, Any]:
    """Write edges or non-edges, ranked by what the atoms make of them."""
    numbers = [ranking.scores, ranking.low, ranking.high, ranking.visits]
    lines = (
        (*pair, *map(_cell, known))
        for pair, *known in zip(ranking.pairs, *(part.tolist() for part in numbers), strict=True)
    )
    write_table(out, ("tail", "head", "score", "low", "high", "visits"), lines)
    fit = ranking.fit
    gain = {} if fit is None else {"gain_of_the_atoms": round(fit.gain, 4)}
    return {
        "out": str(out),
        "pairs": len(ranking.pairs),
        f"share_of_{kind}_visited": round(ranking.coverage, 4),
        "base_rate": round(ranking.shrinkage.base, 4),
        **gain,
    }


def _cell(number: float) -> float | int | str:
    """Return a number as a field of a table: whole numbers without a point, NaN as nothing."""
    if np.isnan(number):
        return ""
    return int(number) if number == int(number) else number


def _opened(run: Path) -> Record:
    record = open_record(run)
    if not isinstance(look_of(record.model), NetworkLook):
        raise InputError(f"{run} is no run that has learned from a network.")
    return record
