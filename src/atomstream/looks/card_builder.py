"""What is known of each atom, made into the cards of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base.checks import counted
from atomstream.looks.cards import Card, Cards, Picture, Sample, Term
from atomstream.looks.edits import Edits
from atomstream.looks.record import Table
from atomstream.looks.similarity import by_similarity
from atomstream.watch.history import Trace

MAX_CARDS = 500
MAX_SAMPLES, MAX_USED = 4, 3  # samples of an atom, and atoms named beside a sample
MAX_TIMES = 60
MIN_SHARE = 1e-3  # share of a code from which on a sample uses an atom


class UsageOverTime(NamedTuple):
    """Shares of the atoms over time.

    Attributes
    ----------
    times : list of str
        Names of the times.
    shares : ndarray of shape (n_times, n_atoms)
    places : list of int
        Number of samples learned from at each time; empty where times are dates of the data.
    """

    times: list[str]
    shares: NDArray
    places: list[int]


@dataclass(frozen=True)
class Users:
    """Samples, and how much they use each atom.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_atoms)
    label : callable
        From the number of a sample to its name.
    note : str
        A sentence that says which samples these are.
    lost, energy : ndarray of shape (n_samples,), or None
        Squared error of each sample, and its squared length.
    picture, text : callable or None
        From the number of a sample to how it looks, and what it says.
    """

    codes: NDArray
    label: Callable[[int], str]
    note: str
    lost: NDArray | None = None
    energy: NDArray | None = None
    picture: Callable[[int], Picture] | None = None
    text: Callable[[int], str] | None = None

    @cached_property
    def shares(self) -> NDArray:
        """Shares of the atoms in the code of each sample; zeros for a code of zeros."""
        sizes = np.abs(self.codes)
        total = sizes.sum(axis=1, keepdims=True)
        return np.divide(sizes, total, out=np.zeros(sizes.shape), where=total > 0)

    def errors(self) -> NDArray | None:
        """Return the mean error of the samples of each atom, weighed by its use of them."""
        if self.lost is None or self.energy is None:
            return None
        lost, energy = self.lost @ self.shares, self.energy @ self.shares
        return np.divide(lost, energy, out=np.full(len(lost), np.nan), where=energy > 0)

    def of(self, atom: int) -> list[Sample]:
        """Return the samples that use an atom most."""
        order = np.argsort(-np.abs(self.codes[:, atom]), kind="stable")[:MAX_SAMPLES]
        return [self._sample(int(i), atom) for i in order if self.shares[i, atom] > MIN_SHARE]

    def _sample(self, i: int, atom: int) -> Sample:
        most = np.argsort(-self.shares[i], kind="stable")[:MAX_USED]
        return Sample(
            self.label(i),
            float(self.shares[i, atom]),
            self.picture and self.picture(i),
            self.text(i) if self.text else "",
            [(int(j), float(self.shares[i, j])) for j in most if self.shares[i, j] > MIN_SHARE],
        )


def users_of(notes: Mapping[str, Any], shown: list[Picture], among: str) -> Users | None:
    """Return the samples that a run has kept; None where it kept none.

    Parameters
    ----------
    notes : mapping
        What the run keeps beside the model.
    shown : list of Picture
        How they look; empty where they are not drawn.
    among : str
        What they are, such as "frames of the video".
    """
    if "sample_codes" not in notes:
        return None
    n_looked_at, texts = int(notes["n_looked_at"]), notes["sample_texts"]
    return Users(
        notes["sample_codes"],
        lambda i: str(notes["sample_labels"][i]),
        f"Samples are those that use it most among {n_looked_at:,} {among}.",
        picture=shown.__getitem__ if shown else None,
        text=lambda i: str(texts[i]),
    )


@dataclass(frozen=True)
class CardBuilder:
    """Makes the cards of a report.

    Parameters
    ----------
    table : Table
        Of the atoms that get a card.
    edits : Edits
        Those made so far, with the number of atoms and the step of the model.
    pictures, terms : list
        How each atom of the model looks, and the words of each topic; or empty.
    users : Users or None
    usage : UsageOverTime or None
    past : (list of int, list of lists of Picture)
        How many samples were learned from at earlier moments, and how each atom looked then.
    atoms : ndarray of shape (n_atoms, ...)
    changes : (ndarray of shape (n_atoms,), int), or None
        How far each atom has turned, and since how many samples.
    """

    table: Table
    edits: Edits
    pictures: list[Picture]
    terms: list[list[Term]]
    users: Users | None
    usage: UsageOverTime | None
    past: tuple[list[int], list[list[Picture]]]
    atoms: NDArray
    changes: tuple[NDArray, int] | None

    def cards(self) -> Cards:
        """Return all of them."""
        listed = self.edits.as_dict()
        edits = {"edits": listed.pop("edits")}
        return Cards(
            self.table.name,
            [self._card(row) for row in self.table.rows],
            self.edits.n_atoms,
            times=[] if self._usage is None else self._usage.times,
            frames=self._frames,
            notes=self._notes(),
            origin=listed,
            edits=edits,
        )

    @cached_property
    def _numbers(self) -> list[int]:
        return [row[0] for row in self.table.rows]

    @cached_property
    def _usage(self) -> UsageOverTime | None:
        """The usage, unless it is of fewer atoms than there are now."""
        usage, last = self.usage, max(self._numbers)
        return None if usage is None or usage.shares.shape[1] <= last else usage

    @cached_property
    def _frames(self) -> list[int]:
        return [] if self._usage is None else _frames(self._usage.places, self.past[0])

    @cached_property
    def _places(self) -> dict[int, int]:
        """Places of the atoms in the order in which neighbours are alike."""
        if len(self.atoms) <= max(self._numbers):
            return {}
        order = by_similarity(self.atoms[self._numbers]).tolist()
        return {self._numbers[i]: place for place, i in enumerate(order)}

    @cached_property
    def _figures(self) -> dict[str, NDArray]:
        """The figures of all atoms that are known."""
        errors = None if self.users is None else self.users.errors()
        changes = None if self.changes is None else self.changes[0]
        found = {"error": errors, "change": changes}
        return {name: values for name, values in found.items() if values is not None}

    def _card(self, row: tuple[Any, ...]) -> Card:
        atom, found = row[0], dict(zip(self.table.columns, row[1:], strict=True))
        text = str(found.pop("features", ""))
        text = f"{self.table.columns['features']}: {text}" if text else ""
        figures: dict[str, float] = {}
        about: dict[str, Any] = {}
        for name, value in found.items():
            if isinstance(value, float) and not figures:
                figures["importance"] = value
            else:
                about[self.table.columns[name]] = value
        for name, values in self._figures.items():
            if np.isfinite(values[atom]):
                figures[name] = float(values[atom])
        return Card(
            atom,
            figures,
            about,
            text,
            picture=self.pictures[atom] if self.pictures else None,
            past=[shown[atom] for shown in self.past[1]] if self._frames else (),
            terms=self.terms[atom] if self.terms else (),
            samples=self.users.of(atom) if self.users else (),
            course=() if self._usage is None else self._usage.shares[:, atom].tolist(),
            place=self._places.get(atom),
        )

    def _notes(self) -> list[str]:
        """Return what the cards show, in sentences."""
        noun, n_cards, n_atoms = self.table.name, len(self.table.rows), self.edits.n_atoms
        notes = [f"Each {noun} on its own, the most important first."]
        if n_cards < n_atoms:
            notes.append(f"{n_cards} of {counted(n_atoms, noun)}.")
        if self.users is not None:
            notes.append(self.users.note)
        if "error" in self._figures:
            notes.append(
                f"The error is the share of these samples that is not explained, where they use "
                f"the {noun}."
            )
        if self.changes is not None:
            notes.append(
                f"The change is one minus the cosine between the {noun} now and after "
                f"{self.changes[1]:,} samples."
            )
        if self._frames:
            notes.append(
                f"The time moves the pictures too: the atoms were kept at {len(self.past[1])} "
                "moments of the stream."
            )
        notes.append(
            "Edits are kept in a list: save it, and apply it with atomstream edit RUN edits.json."
        )
        return notes


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
    middle = int(np.searchsorted(past.n_samples, past.n_samples[-1] / 2))
    now = np.asarray(state.dictionary.atoms(), np.float64)
    now, before = now.reshape(len(now), -1), past.atoms[middle]
    if now.shape != before.shape:
        return None
    sizes = np.linalg.norm(now, axis=1) * np.linalg.norm(before, axis=1)
    cosines = np.divide((now * before).sum(axis=1), sizes, out=np.ones(len(now)), where=sizes > 0)
    return np.clip(1 - cosines, 0, 2), past.n_samples[middle]


def usage_of(history: Trace, unit: str) -> UsageOverTime | None:
    """Return the shares of the atoms along the stream: means of at most so many stretches."""
    usage, n_samples = history.points["usage"], history.n_samples
    kept = [i for i, shares in enumerate(usage) if shares and len(shares) == len(usage[-1])]
    if len(kept) < 2:
        return None
    parts = np.array_split(np.array(kept), min(len(kept), MAX_TIMES))
    places = [n_samples[part[-1]] for part in parts]
    shares = np.array([np.mean([usage[i] for i in part], axis=0) for part in parts])
    return UsageOverTime([f"{place:,} {unit}" for place in places], shares, places)
