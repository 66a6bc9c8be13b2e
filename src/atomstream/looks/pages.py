"""What looks say of a model, put together: its table with the edits, its cards, its report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from atomstream.base.checks import plural
from atomstream.looks import sections
from atomstream.looks.card_builder import MAX_CARDS, CardBuilder, changes_of
from atomstream.looks.cards import Cards, Picture
from atomstream.looks.edits import EDITS, Edits, read_edits
from atomstream.looks.look import look_of
from atomstream.looks.record import Record, Table
from atomstream.looks.report import Section, write_report

MAX_PAST = 1 << 22  # signs of all pictures of the past in a report
ALL = 2**62  # rows of a table


def n_atoms_of(record: Record) -> int:
    """Return the number of atoms, by which edits know them."""
    rows = look_of(record.model).table(record, ALL).rows
    return 1 + max((row[0] for row in rows), default=-1)


def edits_of(record: Record) -> Edits:
    """Return what people have decided about the atoms; nothing for a model in memory."""
    path = record.results / EDITS
    if (record.task is not None or record.path.is_file()) and path.exists():
        return read_edits(path, n_atoms_of(record))
    return Edits(0, {}, record.notes.get("run", ""), record.n_steps)


def edited_table(record: Record, most: int) -> Table:
    """Return the most important atoms as they read with the edits."""
    edits = edits_of(record)
    return edits.table(look_of(record.model).table(record, ALL if edits.made else most), most)


def cards_of(record: Record) -> Cards | None:
    """Return the atoms one by one for the report; None where they are not numbered."""
    look = look_of(record.model)
    table = look.table(record, MAX_CARDS)
    if not table.rows:
        return None
    edits, atoms = edits_of(record), look.atoms(record)
    now = look.drawn(record, atoms)
    return CardBuilder(
        table,
        replace(edits, n_atoms=edits.n_atoms or n_atoms_of(record), step=record.n_steps),
        pictures=now,
        terms=look.terms(record),
        users=look.users(record),
        usage=look.usage(record),
        past=_past(record, now),
        atoms=atoms,
        changes=changes_of(record.history, record.learner),
    ).cards()


def _past(record: Record, now: list[Picture]) -> tuple[list[int], list[list[Picture]]]:
    """Return how many samples were learned from at some moments, and pictures of all atoms."""
    look, shots = look_of(record.model), record.history.snapshots
    shape = look.atoms(record).shape
    kept = [atoms for atoms in shots.atoms if atoms.size == np.prod(shape)]
    if not now or len(kept) < len(shots):
        return [], []
    size = sum(len(picture.png) + sum(map(len, picture.curves)) for picture in now)
    n_shots = min(len(kept), MAX_PAST // max(size, 1))
    some = np.unique(np.linspace(0, len(kept) - 1, n_shots).round().astype(int)).tolist()
    shown = [look.drawn(record, kept[i].reshape(shape)) for i in some]
    return [shots.n_samples[i] for i in some], shown


def sections_of(record: Record) -> list[Section]:
    """Return the sections of the report, under the headings of their chapters."""
    look = look_of(record.model)
    source = {} if record.settings is None else look.source(record)
    unit = look.unit(record)
    chapters = {
        "What was learned": [*look.learned(record), *sections.became(record, plural(unit))],
        "How well": [*look.judged(record), *sections.learning(record, unit)],
        "From what": [Section("inputs", "", facts=source)] if source else [],
        "How": [Section("how", "", facts=sections.how(record))],
    }
    return [
        replace(section, chapter="" if number else chapter)
        for chapter, found in chapters.items()
        for number, section in enumerate(found)
    ]


def write_page(record: Record, folder: Path, name: str) -> Path:
    """Write the report of a model that is called ``name``, and return the path of its page."""
    look, found = look_of(record.model), sections_of(record)
    title, facts = f"{look.title} of {name}", look.facts(record)
    return write_report(folder, title, facts, found, cards=cards_of(record))
