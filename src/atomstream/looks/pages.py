"""What looks say of a model, put together: its table with the edits, its cards, its report."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted, plural
from atomstream.looks import Look, look_of, report
from atomstream.looks.canvas import by_similarity
from atomstream.looks.cards import Card, Cards, Picture
from atomstream.looks.record import EDITS, Edits, Record, Table, read_edits
from atomstream.watch import Trace

MAX_PAST = 1 << 22  # characters of all pictures of the past in a report
ALL = 2**62  # rows of a table
MAX_CARDS = 500


def n_atoms_of(record: Record) -> int:
    """Return the number of atoms, by which edits know them."""
    # From the table, for what is edited are its rows: clusters of a walk are not atoms of a
    # dictionary.
    rows = look_of(record.model, record.task).table(record, ALL).rows
    return 1 + max((row[0] for row in rows), default=-1)


def edits_of(record: Record) -> Edits:
    """Return what people have decided about the atoms; nothing for a model in memory."""
    path = record.results / EDITS
    # A model in memory has no folder, and the working directory may hold edits of something else.
    if (record.task is not None or record.path.is_file()) and path.exists():
        return read_edits(path, n_atoms_of(record))
    return Edits(0, {}, record.notes.get("run", ""), record.n_steps)


def edited_table(record: Record, most: int) -> Table:
    """Return the most important atoms as they read with the edits."""
    edits, look = edits_of(record), look_of(record.model, record.task)
    # With edits all rows are needed: one far down may have been merged into one at the top.
    return edits.table(look.table(record, ALL if edits.made else most), most)


def cards_of(record: Record) -> Cards | None:
    """Return the atoms one by one for the report; None where they are not numbered."""
    table = look_of(record.model, record.task).table(record, MAX_CARDS)
    return CardBuilder(record, table).cards() if table.rows else None


def sections_of(record: Record) -> list[report.Section]:
    """Return the sections of the report, under the headings of their chapters."""
    look = look_of(record.model, record.task)
    source = {} if record.settings is None else look.source(record)
    unit = look.unit(record)
    chapters = {
        "What was learned": [*look.learned(record), *report.became(record, plural(unit))],
        "How well": [*look.judged(record), *report.learning(record, unit)],
        "From what": [report.Section("inputs", "", facts=source)] if source else [],
        "How": [report.Section("how", "", facts=report.how(record))],
    }
    return [
        # The heading stands above the first section of a chapter alone.
        replace(section, chapter="" if number else chapter)
        for chapter, found in chapters.items()
        for number, section in enumerate(found)
    ]


def write_page(record: Record, folder: Path, name: str) -> Path:
    """Write the report of a model that is called ``name``, and return the path of its page."""
    look, found = look_of(record.model, record.task), sections_of(record)
    title, facts = f"{look.title} of {name}", look.facts(record)
    return report.write_report(folder, title, facts, found, cards=cards_of(record))


class CardBuilder:
    """Makes the cards of a report: puts together what is known of each atom.

    Parameters
    ----------
    record : Record
    table : Table
        Of the atoms that get a card.
    """

    def __init__(self, record: Record, table: Table) -> None:
        look, edits = look_of(record.model, record.task), edits_of(record)
        n_atoms = edits.n_atoms or n_atoms_of(record)
        self._edits = replace(edits, n_atoms=n_atoms, step=record.n_steps)
        self._table, self._numbers = table, [row[0] for row in table.rows]
        atoms, last = look.atoms(record), max(self._numbers)
        self._pictures, self._terms = look.drawn(record, atoms), look.terms(record)
        self._users, self._usage = look.users(record), look.usage(record)
        if self._usage is not None and self._usage.shares.shape[1] <= last:
            self._usage = None  # it is of fewer atoms than there are now
        moments, self._past = _past(record, look, atoms.shape, self._pictures)
        self._frames = [] if self._usage is None else _frames(self._usage.places, moments)
        self._places: dict[int, int] = {}  # in the order in which neighbours are alike
        if len(atoms) > last:
            # Of the atoms that have cards, so that neighbours on the page are alike.
            order = by_similarity(atoms[self._numbers]).tolist()
            self._places = {self._numbers[i]: place for place, i in enumerate(order)}
        errors = None if self._users is None else self._users.errors()
        changes, self._since = changes_of(record.history, record.learner) or (None, 0)
        known = {"error": errors, "change": changes}
        self._figures = {name: values for name, values in known.items() if values is not None}

    def cards(self) -> Cards:
        """Return all of them."""
        return Cards(
            self._table.name,
            [self._card(row) for row in self._table.rows],
            self._edits.n_atoms,
            times=[] if self._usage is None else self._usage.times,
            frames=self._frames,
            notes=self._notes(),
            saved=self._edits.as_dict(),
        )

    def _card(self, row: tuple[Any, ...]) -> Card:
        atom, found = row[0], dict(zip(self._table.columns, row[1:], strict=True))
        text = str(found.pop("features", ""))
        text = f"{self._table.columns['features']}: {text}" if text else ""
        figures: dict[str, float] = {}
        about: dict[str, Any] = {}
        for name, value in found.items():
            # The first share of a table is what it is sorted by.
            if isinstance(value, float) and not figures:
                figures["importance"] = value
            else:
                about[self._table.columns[name]] = value
        for name, values in self._figures.items():
            if np.isfinite(values[atom]):
                figures[name] = float(values[atom])
        return Card(
            atom,
            figures,
            about,
            text,
            picture=self._pictures[atom] if self._pictures else None,
            past=[shown[atom] for shown in self._past] if self._frames else (),
            terms=self._terms[atom] if self._terms else (),
            samples=self._users.of(atom) if self._users else (),
            course=() if self._usage is None else self._usage.shares[:, atom].tolist(),
            place=self._places.get(atom),
        )

    def _notes(self) -> list[str]:
        """Return what the cards show, in sentences."""
        noun, n_cards, n_atoms = self._table.name, len(self._table.rows), self._edits.n_atoms
        notes = [f"Each {noun} on its own, the most important first."]
        if n_cards < n_atoms:
            notes.append(f"{n_cards} of {counted(n_atoms, noun)}.")
        if self._users is not None:
            notes.append(self._users.note)
        if "error" in self._figures:
            notes.append(
                f"The error is the share of these samples that is not explained, where they use "
                f"the {noun}."
            )
        if "change" in self._figures:
            notes.append(
                f"The change is one minus the cosine between the {noun} now and after "
                f"{self._since:,} samples."
            )
        if self._frames:
            notes.append(
                f"The time moves the pictures too: the atoms were kept at {len(self._past)} "
                "moments of the stream."
            )
        notes.append(
            "Edits are kept in a list: save it, and apply it with atomstream edit RUN edits.json."
        )
        return notes


def _past(
    record: Record, look: Look, shape: tuple[int, ...], now: list[Picture]
) -> tuple[list[int], list[list[Picture]]]:
    """Return how many samples were learned from at some moments, and pictures of all atoms."""
    shots = record.history.snapshots
    kept = [atoms for atoms in shots.atoms if atoms.size == np.prod(shape)]
    # Atoms have changed their shape on the way: their pictures would not be of the same atoms.
    if not now or len(kept) < len(shots):
        return [], []
    # A page holds all pictures at once: the larger they are, the fewer moments it shows.
    size = sum(len(picture.png) + sum(map(len, picture.curves)) for picture in now)
    n_shots = min(len(kept), MAX_PAST // max(size, 1))
    some = np.unique(np.linspace(0, len(kept) - 1, n_shots).round().astype(int)).tolist()
    shown = [look.drawn(record, kept[i].reshape(shape)) for i in some]
    return [shots.n_samples[i] for i in some], shown


def _frames(places: list[int], moments: list[int]) -> list[int]:
    """Return for each time the place of the last picture before it; at the end is that of now."""
    if not places or not moments:
        return []
    before = np.searchsorted(moments, places[:-1], side="right") - 1
    return [*np.maximum(before, 0).tolist(), len(moments)]


def changes_of(history: Trace, learner: Any) -> tuple[NDArray, int] | None:
    """Return how far each atom has turned since the middle of the stream, and where that was."""
    past = history.snapshots
    state = getattr(learner, "state_", None)
    if len(past) < 2 or state is None:
        return None
    # Since the middle: at the beginning every atom turns.
    middle = int(np.searchsorted(past.n_samples, past.n_samples[-1] / 2))
    now = np.asarray(state.dictionary.atoms(), np.float64)
    now, before = now.reshape(len(now), -1), past.atoms[middle]
    if now.shape != before.shape:
        return None
    sizes = np.linalg.norm(now, axis=1) * np.linalg.norm(before, axis=1)
    cosines = np.divide((now * before).sum(axis=1), sizes, out=np.ones(len(now)), where=sizes > 0)
    return np.clip(1 - cosines, 0, 2), past.n_samples[middle]
