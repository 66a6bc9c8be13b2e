"""What reports of all kinds of runs have in common."""

from __future__ import annotations

import platform
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import atomstream
from atomstream.core.checks import counted, plural
from atomstream.domains import images
from atomstream.exceptions import InputError
from atomstream.history import Trace
from atomstream.io.outputs import check_out, image_format, write_image
from atomstream.runs.dated import lives_of
from atomstream.runs.folder import RunFolder
from atomstream.runs.record import Record
from atomstream.runs.task import Table, View
from atomstream.runs.views._deck import MOST_CARDS, Course, Deck, Users, course_of, users_of
from atomstream.viz import plots
from atomstream.viz.cards import Cards, Picture, Term, pictures
from atomstream.viz.report import Section

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
MOST_PAST = 1 << 22  # signs of all pictures of the past in a report
MOST_EVENTS = 30  # in the life of atoms that a report lists
NO_EVENTS = "No atom appeared, disappeared, split or merged. "
GOALS = {"epochs": "passes", None: "tables"}  # what is counted, where the goal does not say it


class CommonView(View):
    """A view whose report has the usual chapters; a kind of model says what is in them."""

    of: ClassVar[str] = "sample"  # what the objective is a mean over
    samples: ClassVar[str] = "{unit}"  # among which those that use an atom most were found

    @abstractmethod
    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""

    @abstractmethod
    def learned(self, record: Record) -> list[Section]:
        """Return the sections on what was learned."""

    def judged(self, record: Record) -> list[Section]:
        """Return the sections on how well it was learned, besides the objective."""
        return []

    def pictures(self, record: Record) -> list[Picture]:
        """Return small pictures of all atoms; empty where there is nothing to draw."""
        return self.drawn(record, self.atoms(record))

    def atoms(self, record: Record) -> NDArray:
        """Return all atoms in the shape of the data, (n_atoms, ...)."""
        return np.asarray(getattr(record.model, "components_", np.zeros(0)))

    def drawn(self, record: Record, values: NDArray) -> list[Picture]:
        """Return small pictures of atoms or samples; empty where there is nothing to draw."""
        if record.shape is not None:
            values = values.reshape(-1, *record.shape)
        drawable = values.ndim in (2, 3) or (values.ndim == 4 and values.shape[3] == 3)
        return pictures(values) if drawable and values.size else []

    def terms(self, record: Record) -> list[list[Term]]:
        """Return the words of all topics; empty where atoms are not made of words."""
        return []

    def users(self, record: Record) -> Users | None:
        """Return samples and their codes, by default those that the run has kept."""
        shown = self.drawn(record, np.asarray(record.notes.get("sample_values", np.zeros(0))))
        return users_of(record, shown, self.samples.format(unit=plural(self.unit(record))))

    def course(self, record: Record) -> Course | None:
        """Return the shares of the atoms over time; None where not known."""
        return course_of(record.history, plural(self.unit(record)))

    def past(self, record: Record, now: list[Picture]) -> tuple[list[int], list[list[Picture]]]:
        """Return how many samples were learned from at some moments, and pictures of all atoms."""
        shape, shots = self.atoms(record).shape, record.history.snapshots
        kept = [atoms for atoms in shots.atoms if atoms.size == np.prod(shape)]
        if not now or len(kept) < len(shots):
            return [], []
        size = sum(len(look.png) + sum(map(len, look.curves)) for look in now)
        n_shots = min(len(kept), MOST_PAST // max(size, 1))
        some = np.unique(np.linspace(0, len(kept) - 1, n_shots).round().astype(int)).tolist()
        shown = [self.drawn(record, kept[i].reshape(shape)) for i in some]
        return [shots.n_samples[i] for i in some], shown

    def cards(self, record: Record) -> Cards | None:
        """Return the atoms one by one."""
        table = record.view.table(record, MOST_CARDS)
        if not table.rows:
            return None
        now = self.pictures(record)
        parts: dict[str, Any] = {
            "pictures": now,
            "terms": self.terms(record),
            "users": self.users(record),
            "course": self.course(record),
            "past": self.past(record, now),
            "atoms": self.atoms(record),
        }
        return Deck(record, table, **parts).cards()

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the inputs of a run."""
        return {}

    def facts(self, record: Record) -> dict[str, Any]:
        """Return the run in a few lines."""
        facts = self.known(record) | _progress(record)
        if hasattr(record.learner, "batch_objective_"):
            mean = f"{record.objective:.6g} per {self.unit(record)}"
            facts["objective"] = f"{mean}, recent batches before their update"
        return facts

    def quality(self, record: Record) -> dict[str, float]:
        """Return what was measured at the end of the run."""
        return dict(record.notes.get("figures", {}))

    def sections(self, record: Record) -> list[Section]:
        """Return the sections of the report."""
        source = {} if record.settings is None else self.source(record)
        unit = self.unit(record)
        chapters = {
            "What was learned": [*self.learned(record), *_became(record, plural(unit))],
            "How well": [*self.judged(record), *_learning(record, unit)],
            "From what": [Section("inputs", "", facts=source)] if source else [],
            "How": [Section("how", "", facts=_how(record))],
        }
        return [
            replace(section, chapter="" if number else chapter)
            for chapter, found in chapters.items()
            for number, section in enumerate(found)
        ]

    def unit(self, record: Record) -> str:
        """Return what the objective is a mean over."""
        return self.of


def atoms_table(
    record: Record, most: int, last: str = "", text: Callable[[int], str] | None = None
) -> Table:
    """Return shares of code and energy of the most important atoms, perhaps with a text on each."""
    model, learner = record.model, record.learner
    energy = learner.memory_.atom_energy(learner.state_.dictionary)
    energy = energy / max(energy.sum(), np.finfo(float).tiny)
    rows: list[tuple[Any, ...]] = []
    for atom in np.argsort(-model.importance_, kind="stable")[:most].tolist():
        shares = float(model.importance_[atom]), float(energy[atom])
        rows.append((atom, *shares) if text is None else (atom, *shares, text(atom)))
    heads = {"code_share": "share of code times length", "energy_share": "share of the energy"}
    return Table("atom", heads if text is None else heads | {"features": last}, rows)


def importance(record: Record, table: Table, note: str = "") -> Section:
    """Return a table of atoms as a section."""
    shares = record.model.importance_
    unused = int((shares == 0).sum())
    notes = [note] * bool(note) + [f"Atoms that were never used: {unused}."] * bool(unused)
    title = f"The {len(table.rows)} most important of {counted(len(shares), 'atom')}"
    return table_section("importance", title, table, " ".join(notes))


def table_section(name: str, title: str, table: Table, caption: str = "") -> Section:
    """Return a table as a section, with shares in percent."""
    first = table.rows[0] if table.rows else (None,) * (1 + len(table.columns))
    shares = [isinstance(cell, float) for cell in first[1:]]
    heads = zip(table.columns.values(), shares, strict=True)
    columns = [table.name, *(f"{head}, %" if share else head for head, share in heads)]
    rows = [
        tuple(100 * cell if isinstance(cell, float) else cell for cell in row) for row in table.rows
    ]
    return Section(name, title, caption, columns=columns, rows=rows, of_atoms=True)


def rounded(figures: Mapping[str, float]) -> dict[str, str]:
    """Return figures as text."""
    return {name: f"{value:.4g}" for name, value in figures.items()}


def inputs(record: Record) -> str:
    """Return the names of the first inputs."""
    names = list(record.settings.inputs)
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


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


def _progress(record: Record) -> dict[str, Any]:
    """Return how far a run is and how long it took; nothing for a model file."""
    if record.settings is None or record.task is None:
        return {}
    done, goal = record.notes.get("position", (0,))[0], record.task.goal
    state = "complete"
    if record.complete is None:
        state = "open: continues with what comes on standard input"
    elif not record.complete:
        wanted = getattr(record.settings, goal) if goal else 1
        state = f"{done}{f' of {wanted}' if wanted else ''} {GOALS.get(goal, goal)} complete"
    return {"state": state, "time": f"{record.notes['seconds']:.1f} s"}


def _learning(record: Record, unit: str) -> list[Section]:
    """Return the section on how the objective went, where a history was kept."""
    if not record.history.n_samples:
        return []
    caption = (
        f"Mean objective of the {plural(unit)} of each batch before the model learned from it."
    )
    if len(record.history.n_samples) > 1:
        caption += " The first batch, which the start was made from, is left out."
    caption += _changeovers(record.history, plural(unit))
    figure = plots.objective(record.history, unit=unit)
    return [Section("objective", "Learning", caption, figure)]


def _changeovers(history: Trace, unit: str) -> str:
    """Return when the adaptive schedule has left the past behind; nothing where it has not."""
    counts = np.nan_to_num(history.points["n_changeovers"])
    places = np.flatnonzero(np.diff(counts, prepend=0) > 0)
    if not len(places):
        return ""
    listed = ", ".join(f"{history.n_samples[i]:,}" for i in places[-MOST_EVENTS:])
    times = counted(int(counts[-1]), "time")
    return f" The schedule left the past behind {times}: by {listed} {unit}."


def _became(record: Record, unit: str) -> list[Section]:
    """Return the section on births and deaths of atoms, where snapshots of them were kept."""
    lives = lives_of(record.history, record.notes)
    if not lives.moments:
        return []
    heads = {"atom": "atom", "kind": "event", "n_samples": f"{unit} by then", "when": "date"}
    heads["other"] = "other atom (its first number)"
    shown = [event._asdict() for event in reversed(lives.events[-MOST_EVENTS:])]
    shown = [found | {"n_samples": f"{found['n_samples']:,}"} for found in shown]
    known = [name for name in heads if any(found[name] is not None for found in shown)]
    rows = [
        (found["atom"], *("" if found[name] is None else str(found[name]) for name in known[1:]))
        for found in shown
    ]
    moved = max(lives.drift.values())
    caption = (
        f"Atoms are compared at {counted(len(record.history.snapshots), 'moment')} of the stream. "
        + (f"{counted(len(lives.events), 'event')} found. " if lives.events else NO_EVENTS)
        + f"The atom that changed most has changed by {moved:.3g} in total (one minus the cosine "
        "between neighbouring moments, added up)."
    )
    if len(rows) < len(lives.events):
        caption += f" The last {len(rows)} are listed."
    columns = [heads[name] for name in known]
    return [Section("became", "What became of the atoms", caption, columns=columns, rows=rows)]


def _how(record: Record) -> dict[str, Any]:
    """Return settings, versions, time and warnings."""
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
    return facts
