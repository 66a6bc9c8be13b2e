"""``network learn``, ``reconstruct`` and ``denoise``: dictionaries of the patches of a network."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np

from atomstream.callbacks import LearningBar
from atomstream.cli.running import begin_session, heeded, resume_session, signals
from atomstream.cli.using import check_out, tell
from atomstream.domains.networks.network import Network
from atomstream.domains.networks.reconstruction import Ranking, Reconstruction
from atomstream.estimators.network import NetworkDictionary
from atomstream.exceptions import InputError
from atomstream.io.files import whole_file
from atomstream.runs.folder import RunFolder
from atomstream.runs.networks import NetworkRun, network_of, read_network
from atomstream.runs.record import open_record
from atomstream.runs.settings import NetworkSettings


def learn(
    edges: Path | None,
    out: Path,
    config: Path | None,
    given: dict[str, Any],
    max_time: float | None,
    as_json: bool,
) -> int:
    """Begin a run."""
    inputs = {} if edges is None else {"inputs": [str(edges)]}
    kind = (NetworkSettings, NetworkRun, "network")
    return begin_session(kind, given | inputs, config, out, lambda run: go(run, max_time, as_json))


def resume(folder: RunFolder, batches: int | None, max_time: float | None, as_json: bool) -> int:
    """Go on with a run whose folder is held."""
    return resume_session(
        NetworkRun, folder, "batches", batches, lambda run: go(run, max_time, as_json)
    )


def go(run: NetworkRun, max_time: float | None, as_json: bool) -> int:
    """Learn, and tell what came of it."""
    before = run.model.n_steps_ if run.learned else 0
    with signals(run):
        outcome = run.run(lambda text: LearningBar(text=text), max_time)
    run.folder.log("end", complete=outcome.complete, reason=outcome.reason)
    model, path = run.model, run.folder.path
    facts = {
        "run": str(path),
        "complete": outcome.complete,
        "stopped_by": outcome.reason,
        "nodes": run.network.n_nodes,
        "edges": n_edges(run.network),
        "atoms": run.settings.atoms,
        "copies": model.learner_.n_samples_seen_ if run.learned else 0,
        "batches": model.n_steps_ if run.learned else 0,
        "seconds": round(run.seconds, 3),
        "objective": run.history.recent if run.history.objective else None,
    }
    if as_json:
        click.echo(json.dumps(facts))
        return 0
    for warning in run.warnings:
        click.echo(f"Warning: {warning}", err=True)
    if outcome.complete and facts["batches"] == before:
        click.echo(
            f"Nothing is left to do in {path}; more batches: atomstream resume {path} --batches N"
        )
        return 0
    click.echo(
        f"{facts['atoms']} atoms from {facts['copies']:,} copies of the motif in {facts['seconds']:.1f} s: {path}"
        + (
            f"\nLook at them with: atomstream report {path}"
            if outcome.complete
            else f"\nStopped by {outcome.reason}; go on with: atomstream resume {path}"
        )
    )
    return 0


def n_edges(network: Network) -> int:
    """Return the number of edges, each once."""
    loops = int((network.out.diagonal() != 0).sum())
    return (network.out.nnz + loops) // 2 if network.undirected else int(network.out.nnz)


def reconstruct(
    run: Path, edges: Path | None, out: Path | None, steps: int, seed: int, as_json: bool
) -> int:
    """Rebuild a network and say how close it is."""
    model, network, out = _given(run, edges, out, "reconstruction.csv", (".csv", ".npz"))
    rebuilt: Reconstruction = heeded(
        "network", lambda: model.reconstruct(network, n_steps=steps, random_state=seed)
    )
    with whole_file(out) as file:
        if out.suffix == ".npz":
            import scipy.sparse as sp

            sp.save_npz(file, rebuilt.matrix)
        else:
            _write(file, ("tail", "head", "weight"), chain.from_iterable(rebuilt.blocks()))
    facts = {
        "out": str(out),
        "coverage": round(rebuilt.coverage, 4),
        "relative_error": round(rebuilt.error / float(np.linalg.norm(network.out.data)), 4),
        "ordered_pairs_visited": int(rebuilt.matrix.nnz),
    }
    tell(facts, as_json)
    return 0


def denoise(
    run: Path,
    edges: Path | None,
    out: Path | None,
    pairs: str,
    steps: int,
    seed: int,
    as_json: bool,
) -> int:
    """Rank edges or non-edges."""
    model, network, out = _given(run, edges, out, f"{pairs}.csv", (".csv",))
    ranking: Ranking = heeded(
        "network", lambda: model.denoise(network, pairs, n_steps=steps, random_state=seed)
    )
    with whole_file(out) as file:
        lines = zip(
            ranking.pairs,
            ranking.scores.tolist(),
            ranking.visited.astype(int).tolist(),
            strict=True,
        )
        _write(
            file, ("tail", "head", "score", "visited"), ((*pair, *told) for pair, *told in lines)
        )
    tell(
        {"out": str(out), "pairs": len(ranking.pairs), "coverage": round(ranking.coverage, 4)},
        as_json,
    )
    return 0


def _given(
    run: Path, edges: Path | None, out: Path | None, name: str, endings: tuple[str, ...]
) -> tuple[NetworkDictionary, Network, Path]:
    """Return the model of a run, the network to look at (by default its own), and where to write."""
    record = open_record(run)
    if not isinstance(record.model, NetworkDictionary):
        raise InputError(f"{run} is no run that has learned from a network.")
    if edges is None and record.settings is None:
        raise InputError(f"{run} is a model without its network; name a file of edges.")
    network = network_of(record) if edges is None else read_network(edges)
    out = (run if run.is_dir() else run.parent) / name if out is None else out
    if out.suffix not in endings:
        raise InputError(f"{out} must end in {' or '.join(endings)}.")
    check_out(out)
    if edges is not None and out.resolve() == edges.resolve():
        raise InputError(f"{out} is the network itself; choose another --out.")
    return record.model, network, out


def _write(file: Any, names: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    """Write a table; names of nodes that hold commas or quotes are quoted."""
    import csv
    import io

    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    text.flush()
    text.detach()
