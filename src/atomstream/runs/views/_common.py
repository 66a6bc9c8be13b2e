"""What reports of all kinds of runs have in common."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import atomstream
from atomstream.domains import images
from atomstream.exceptions import InputError
from atomstream.io.outputs import check_out, image_format, write_image
from atomstream.runs.folder import RunFolder
from atomstream.runs.record import Record
from atomstream.runs.task import Table
from atomstream.viz import plots
from atomstream.viz.report import Section

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def progress(record: Record, of: str = "passes") -> dict[str, Any]:
    """Return how far a run is and how long it took; nothing for a model file."""
    if record.settings is None:
        return {}
    done, goal = record.notes.get("position", (0,))[0], record.task.goal if record.task else None
    state = "complete"
    if record.complete is None:
        state = "open: continues with what comes on standard input"
    elif not record.complete:
        wanted = getattr(record.settings, goal) if goal else 1
        state = f"{done}{f' of {wanted}' if wanted else ''} {of} complete"
    return {"state": state, "time": f"{record.notes['seconds']:.1f} s"}


def objective(record: Record, of: str) -> dict[str, Any]:
    """Return the mean objective of recent batches."""
    return {"objective": f"{record.objective:.6g} per {of}, recent batches before their update"}


def energy_shares(learner: Any) -> Any:
    """Return the share of each atom in the energy of all reconstructions, (n_components,)."""
    energy = learner.memory_.atom_energy(learner.state_.dictionary)
    return energy / max(energy.sum(), np.finfo(float).tiny)


def table_section(name: str, title: str, table: Table, caption: str = "", **more: Any) -> Section:
    """Return a table of atoms as a section, with shares in percent."""
    heads = [
        table.name,
        *(
            f"{head}, %" if _is_share(table, i) else head
            for i, head in enumerate(table.columns.values(), 1)
        ),
    ]
    rows = [
        tuple(100 * cell if isinstance(cell, float) else cell for cell in row) for row in table.rows
    ]
    return Section(name, title, caption, columns=heads, rows=rows, **more)


def _is_share(table: Table, place: int) -> bool:
    return bool(table.rows) and isinstance(table.rows[0][place], float)


def learning(record: Record, of: str, chapter: str = "") -> list[Section]:
    """Return the section on how the objective went, where a history was kept."""
    if not record.history.n_samples:
        return []
    caption = f"Mean objective of the {of} of each batch before the model learned from them."
    return [Section("objective", "Learning", caption, plots.objective(record.history), chapter)]


def place_of_image(record: Record, source: Path, out: Path | None) -> Path:
    """Return where a rebuilt image goes: by default among the figures of the run."""
    if not source.exists():
        raise InputError(f"There is no {source}.")
    if out is None:
        out = record.folder / "figures" / f"{source.stem}-reconstructed.png"
        out.parent.mkdir(parents=True, exist_ok=True)
    check_out(out, source)
    image_format(out)
    return out


def write_rebuilt(out: Path, pixels: NDArray, rebuilt: NDArray) -> dict[str, Any]:
    """Write a rebuilt image, and return where and how close it is."""
    rebuilt = np.clip(rebuilt, 0, 1)
    write_image(out, rebuilt)
    return {"out": str(out), "psnr": round(images.psnr(pixels, rebuilt), 3)}


def inputs(record: Record) -> str:
    """Return the names of the first inputs."""
    names = list(record.settings.inputs)
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def how(record: Record) -> list[Section]:
    """Return the chapter on settings, versions, time and warnings."""
    learner = record.learner
    versions = {"atomstream": atomstream.__version__, "Python": platform.python_version()}
    versions |= {name: version(name) for name in PACKAGES}
    facts: dict[str, Any] = {
        "settings": repr(record.model).replace("\n", " "),
        "versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
    }
    if record.settings is not None:
        seconds = record.notes["seconds"]
        n_seen = getattr(learner, "n_samples_seen_", None) or learner.n_steps_
        rate = n_seen / max(seconds, 1e-9)
        facts["time"] = f"{seconds:.1f} s, reading and compiling included; {rate:,.0f} a second"
        events = [event.get("event") for event in RunFolder(record.path).log.events()]
        facts["sessions"] = f"{1 + events.count('resume')}"
    if hasattr(learner, "n_reseeded_"):
        facts["re-seeded atoms"] = learner.n_reseeded_
    facts["warnings"] = "; ".join(record.notes.get("warnings", [])) or "none"
    return [Section("how", "", facts=facts, chapter="How")]
