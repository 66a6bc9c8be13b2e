"""What is done with a dictionary that has been learned."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.estimators.network import NetworkDictionary
from atomstream.estimators.series import SeriesDictionary
from atomstream.estimators.topics import TopicModel
from atomstream.estimators.video import VideoDictionary
from atomstream.estimators.walk import RandomWalkFactorization
from atomstream.exceptions import InputError
from atomstream.io.feed import Feed, Position
from atomstream.io.files import whole_file
from atomstream.io.images import Pictures, load_image
from atomstream.io.inputs import STANDARD_INPUT, InputOptions, open_inputs
from atomstream.runs.record import Record, open_record

TABLES = (".csv", ".tsv", ".gz", ".parquet")
ROWS = 4096  # coded and written at a time
BAR = 24  # signs of a full bar on the screen


def encode(run: Path, inputs: tuple[str, ...], out: Path, as_json: bool) -> int:
    """Write codes, batch by batch."""
    record = open_record(run)
    _refuse_network(record)
    writer = next((writer for ending, writer in WRITERS.items() if out.name.endswith(ending)), None)
    if writer is None:
        raise InputError(f"{out} must end in one of {', '.join(WRITERS)}.")
    check_out(out)
    if any(name != STANDARD_INPUT and out.resolve() == Path(name).resolve() for name in inputs):
        raise InputError(f"{out} is the input itself; choose another --out.")
    wanted = InputOptions() if record.settings is None else record.settings.wanted()
    by_name = record.names is not None and all(name.endswith(TABLES) for name in inputs)
    sources = open_inputs(inputs, wanted)
    if by_name and any(source.names not in (None, record.names) for source in sources):
        sources = open_inputs(
            inputs, replace(wanted, columns=tuple(record.names or ()))
        )  # in the order learned
    if isinstance(sources[0], Pictures):
        raise InputError(
            "encode takes tables and arrays; to rebuild an image use: atomstream reconstruct RUN IMAGE"
        )
    if sources[0].n_features != record.model.n_features_in_:
        raise InputError(
            f"{sources[0].name} has {sources[0].n_features} columns, {run} has learned {record.model.n_features_in_}."
        )
    n_rows = 0
    with whole_file(out) as file, writer(file, len(record.model.components_)) as write:
        for piece in Feed(sources, ROWS).batches(Position()):
            try:
                write(record.model.transform(piece.X))
            except ValueError as error:
                found = re.search(r"first in row (\d+)", str(error))
                told = f"first in row {n_rows + int(found[1])}" if found else ""
                raise InputError(
                    str(error).replace(found[0], told) if found else str(error)
                ) from None
            n_rows += piece.X.shape[0]
    tell({"out": str(out), "rows": n_rows, "atoms": len(record.model.components_)}, as_json)
    return 0


def _refuse_network(record: Record) -> None:
    if isinstance(record.model, TopicModel | VideoDictionary):
        what = "texts" if isinstance(record.model, TopicModel) else "a video"
        raise InputError(f"{record.path} has learned from {what} and codes no rows.")
    if isinstance(record.model, RandomWalkFactorization):
        raise InputError(f"{record.path} has learned from a walk and codes no rows.")
    if isinstance(record.model, NetworkDictionary):
        raise InputError(
            f"{record.path} has learned from a network; use atomstream network reconstruct or denoise."
        )
    if isinstance(record.model, SeriesDictionary):
        raise InputError(
            f"{record.path} has learned from series and codes no rows; use its model from Python."
        )


def check_out(out: Path) -> None:
    """Refuse a place where no file can be written."""
    if out.is_dir() or not out.resolve().parent.is_dir():
        raise InputError(
            f"{out} cannot be written: {'it is a folder' if out.is_dir() else 'its folder is missing'}."
        )


@contextmanager
def _parquet(file: Any, n_atoms: int) -> Iterator[Callable[[NDArray], None]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, schema := _schema(n_atoms)) as writer:
        yield lambda codes: writer.write_table(
            pa.table(
                [np.ascontiguousarray(column, np.float64) for column in codes.T], schema=schema
            )
        )


@contextmanager
def _csv(file: Any, n_atoms: int) -> Iterator[Callable[[NDArray], None]]:
    import pyarrow as pa
    from pyarrow import csv

    with csv.CSVWriter(file, schema := _schema(n_atoms)) as writer:
        yield lambda codes: writer.write_table(
            pa.table(
                [np.ascontiguousarray(column, np.float64) for column in codes.T], schema=schema
            )
        )


@contextmanager
def _npz(file: Any, n_atoms: int) -> Iterator[Callable[[NDArray], None]]:
    """Keep the codes, sparse, until all have come: their file begins with how many there are."""
    kept: list[Any] = []
    kept.append(sp.csr_array((0, n_atoms)))
    yield lambda codes: kept.append(sp.csr_array(codes))
    sp.save_npz(file, sp.vstack(kept).tocsr())


def _schema(n_atoms: int) -> Any:
    import pyarrow as pa

    return pa.schema([(f"atom_{number}", pa.float64()) for number in range(n_atoms)])


WRITERS = {".parquet": _parquet, ".csv": _csv, ".npz": _npz}


def reconstruct(run: Path, image: Path, out: Path | None, stride: int, as_json: bool) -> int:
    """Rebuild an image and say how close it is."""
    from atomstream.domains import images

    record = open_record(run)
    _refuse_network(record)
    settings, shape = record.settings, record.shape
    if settings is None or shape is None or shape[:2] != (settings.patch, settings.patch):
        raise InputError(f"{run} is no run that has learned from images.")
    if not image.exists():
        raise InputError(f"There is no {image}.")
    pixels = load_image(image, color=len(shape) == 3)
    if min(pixels.shape[:2]) < shape[0]:
        raise InputError(f"{image} is smaller than a patch of {shape[0]} x {shape[1]} pixels.")
    if stride > shape[0]:
        raise InputError(
            f"--stride is {stride}, needed is at most the size of a patch, {shape[0]}."
        )
    center = "patch" if settings.center else None
    rebuilt = np.clip(
        images.reconstruct(record.model, pixels, shape[0], stride=stride, center=center), 0, 1
    )
    if out is None:
        out = (run if run.is_dir() else run.parent) / "figures" / f"{image.stem}-reconstructed.png"
        out.parent.mkdir(parents=True, exist_ok=True)
    check_out(out)
    write_picture(out, rebuilt)
    tell({"out": str(out), "psnr": round(images.psnr(pixels, rebuilt), 3)}, as_json)
    return 0


def picture_format(out: Path) -> str:
    """Return the format that the name of an image asks for."""
    from PIL import Image

    kind = Image.registered_extensions().get(out.suffix.lower())
    if kind is None:
        raise InputError(f"{out} ends like no image that can be written; end it in .png.")
    return kind


def write_picture(out: Path, pixels: NDArray) -> None:
    """Write an image in which white is 1 with 8 bits per channel."""
    from PIL import Image

    kind = picture_format(out)
    with whole_file(out) as file:
        Image.fromarray((np.clip(pixels, 0, 1) * 255).round().astype(np.uint8)).save(
            file, format=kind
        )


def inspect(run: Path, as_json: bool) -> int:
    """Show a run on one screen."""
    record = open_record(run)
    if isinstance(record.model, RandomWalkFactorization):
        from atomstream.runs import walk_reporting

        return _inspect_walk(run, walk_reporting, record, as_json)
    reporting, shares, on = _reporting(record)
    figures, atoms = reporting.quality(record), reporting.top_atoms(record, 10)
    if as_json:
        listed = [
            dict(zip(("atom", "code_share", f"{shares}_share", "features"), atom, strict=True))
            for atom in atoms
        ]
        click.echo(
            json.dumps({"run": str(run), **_numbers(record), "held_out": figures, "atoms": listed})
        )
        return 0
    click.echo(f"{run}")
    inputs = [] if record.settings is None else list(record.settings.inputs)
    told = reporting.facts(record) | (
        {"inputs": ", ".join(inputs[:3]) + (" ..." if len(inputs) > 3 else "")} if inputs else {}
    )
    told |= {name: f"{value:.4g} ({on})" for name, value in figures.items()}
    width = max(map(len, told))
    for name, value in told.items():
        click.echo(f"  {name:<{width}}  {value}")
    most = max(atoms[0][1], 1e-12)
    click.echo(f"  atom   code {shares:>7}")
    for atom, code, energy, features in atoms:
        bar = "=" * round(BAR * code / most)
        click.echo(
            f"  {atom:>4} {100 * code:5.1f} % {100 * energy:5.1f} %  {bar:<{BAR}}  {features}".rstrip()[
                :118
            ]
        )
    return 0


def _inspect_walk(run: Path, reporting: Any, record: Record, as_json: bool) -> int:
    """Show the clusters of a run on trips or a walk."""
    clusters = reporting.clusters(record)
    if as_json:
        named = [
            dict(zip(("cluster", "states", "visits_share", "stays"), row, strict=True))
            for row in clusters
        ]
        click.echo(json.dumps({"run": str(run), **reporting.facts(record), "clusters": named}))
        return 0
    click.echo(f"{run}")
    for name, value in reporting.facts(record).items():
        click.echo(f"  {name:<16}  {value}")
    click.echo("  cluster  states  visits   stays")
    for cluster, states, share, stays in clusters:
        click.echo(f"  {cluster:>7}  {states:>6}  {100 * share:4.1f} %  {100 * stays:4.1f} %")
    return 0


def report(run: Path, as_json: bool) -> int:
    """Write the report."""
    from atomstream.viz.report import write_report

    _needs_plots()
    record = open_record(run)
    reporting = _reporting(record)[0]
    title = f"{reporting.TITLE} of {record.path.resolve().name}"
    page = write_report(_folder(run), title, reporting.facts(record), reporting.sections(record))
    tell({"report": str(page), "figures": str(page.parent / "figures")}, as_json)
    return 0


def plot(run: Path, as_json: bool) -> int:
    """Write the pictures."""
    from atomstream.viz.report import write_figures

    _needs_plots()
    record = open_record(run)
    written = write_figures(_folder(run), _reporting(record)[0].sections(record))
    tell({"figures": [str(path) for path in written]}, as_json)
    return 0


def _reporting(record: Record) -> tuple[Any, str, str]:
    """Return the module that reports on such a run, its second kind of share, and what its figures are taken on."""
    if isinstance(record.model, RandomWalkFactorization):
        from atomstream.runs import walk_reporting

        return walk_reporting, "", ""
    if isinstance(record.model, NetworkDictionary):
        from atomstream.runs import network_reporting

        return network_reporting, "recent", "the network learned from"
    if isinstance(record.model, VideoDictionary):
        raise InputError(
            f"{record.path} has learned from a video; its pictures are those of atomstream.viz.plots."
        )
    if isinstance(record.model, TopicModel):
        from atomstream.runs import text_reporting

        return text_reporting, "top six", ""

    if isinstance(record.model, SeriesDictionary):
        from atomstream.runs import series_reporting

        return series_reporting, "energy", "the table learned from"
    from atomstream.runs import reporting

    return reporting, "energy", "held-out rows"


def _folder(run: Path) -> Path:
    return run if run.is_dir() else run.with_name(f"{run.stem}-report")


def _needs_plots() -> None:
    try:
        import jinja2  # noqa: F401 - asked for, not used
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError(
            "Pictures need matplotlib and jinja2: pip install 'atomstream[plots]'."
        ) from None


def _numbers(record: Record) -> dict[str, Any]:
    model = record.model
    learner = getattr(model, "learner_", model)
    return {
        "model": type(model).__name__,
        "components": len(learner.components_),
        "features": learner.n_features_in_,
        "samples": learner.n_samples_seen_,
        "steps": learner.n_steps_,
        "objective": record.objective if np.isfinite(record.objective) else None,
        "complete": record.complete,
        "position": record.notes.get("position"),
        "seconds": record.notes.get("seconds"),
    }


def tell(facts: dict[str, Any], as_json: bool) -> None:
    """Print facts, as lines or as JSON."""
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        click.echo(f"{name}: {', '.join(value) if isinstance(value, list) else value}")
