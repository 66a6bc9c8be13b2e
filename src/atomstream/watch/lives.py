"""What became of the atoms along the stream: births, deaths, splits, merges and drift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import scipy  # what is in it is loaded at its first use
from numpy.typing import NDArray

from atomstream.base import unit
from atomstream.watch.history import Trace

__all__ = ["AtomsOverTime", "Event", "Moment", "atoms_over_time", "lives_of"]

HALF = 0.5  # share of what one atom leaves of another that a second one must explain
NEAREST = 4  # atoms that may have been one with another are looked for among the most alike
MAX_UNEXPLAINED = 0.05  # share of an atom that may stay unexplained: then one atom is enough
UNUSED = 0.01  # of the mean share: an atom that is used less rests
FORMING = 0.5  # share of atoms that are new from one snapshot to the next at the beginning


class Event(NamedTuple):
    """Something that happened to an atom between two snapshots.

    Attributes
    ----------
    n_samples : int
        Number of samples learned from at the later snapshot.
    when : object
        Date of that sample, where dates are known, else None.
    kind : {"birth", "death", "split", "merge", "rest", "return"}
        A split is a birth from a part of another atom, a merge is a death into another. An atom
        rests while no code uses it.
    atom : int
        Its number in the dictionary then; of deaths the last one.
    life : int
        Its number in the record, which it keeps for life.
    other : int or None
        For splits and merges the life of the other atom.
    """

    n_samples: int
    when: Any
    kind: str
    atom: int
    life: int
    other: int | None


class Moment(NamedTuple):
    """An atom at a snapshot.

    Attributes
    ----------
    n_samples, when
        As in `Event`.
    atom, life : int
    similarity : float
        Cosine with the same atom at the snapshot before; NaN for one that is new.
    usage : float
        Mean share of the codes, times the length of the atom, since the snapshot before; NaN where
        it is not known.
    """

    n_samples: int
    when: Any
    atom: int
    life: int
    similarity: float
    usage: float


@dataclass(frozen=True)
class AtomsOverTime:
    """The record of the atoms of a model.

    Attributes
    ----------
    moments : list of Moment
        Each atom at each snapshot, in the order of the stream.
    events : list of Event
    """

    moments: list[Moment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    @property
    def drift(self) -> dict[int, float]:
        """How far the atom of each life has turned: the sum of one minus its similarities."""
        total: dict[int, float] = {}
        for moment in self.moments:
            step = 1 - moment.similarity if np.isfinite(moment.similarity) else 0.0
            total[moment.life] = total.get(moment.life, 0.0) + step
        return total

    @property
    def formed(self) -> int:
        """Number of samples after which the atoms had formed; 0 where the first snapshot has them.

        Before that half of them or more are new from each snapshot to the next.
        """
        end, snapshots = 0, groupby(self.moments, key=lambda moment: moment.n_samples)
        next(snapshots, None)  # at the first one all are new
        for n_samples, moments in snapshots:
            new = [not np.isfinite(moment.similarity) for moment in moments]
            if sum(new) < FORMING * len(new):
                break
            end = n_samples
        return end

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of `rows`."""
        return ("n_samples", "when", "atom", "life", "similarity", "usage", "event", "other")

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield moments and events as the rows of one table, in the order of the stream."""
        happened = {(event.n_samples, event.life): event for event in self.events}
        for moment in self.moments:
            event = happened.pop((moment.n_samples, moment.life), None)
            known = (value if np.isfinite(value) else None for value in moment[4:])
            yield (*moment[:4], *known, event and event.kind, event and event.other)
        for event in happened.values():  # deaths: the atom is in no later snapshot
            yield (*event[:2], event.atom, event.life, None, None, event.kind, event.other)


def atoms_over_time(history: Trace, dates: Sequence[Any] | None = None) -> AtomsOverTime:
    """Follow the atoms through the snapshots of a history.

    Atoms of neighbouring snapshots are matched by `align`. Partners are the same atom if their
    cosine is at least half-way between one and the median cosine of different atoms: dense
    nonnegative atoms are alike even where they have nothing to do with each other. What has no such
    partner was born or has died. A new atom was split off an older one if it explains at least half
    of what that one's partner leaves of it; merges are splits seen backwards.

    Parameters
    ----------
    history : History or Trace
    dates : sequence, optional
        The date of each sample of the stream, in its order.

    Returns
    -------
    AtomsOverTime
        Empty where the history has fewer than two snapshots.
    """
    book, usage = _Book(), _usage(history)
    shots = history.snapshots
    for place, kept in enumerate(shots.atoms if len(shots) > 1 else []):
        n_samples = shots.n_samples[place]
        # Passes after the first go beyond the dates: they end with the last one.
        when = None if dates is None else dates[min(n_samples, len(dates)) - 1]
        # Of length one, for only directions are followed.
        book.turn((n_samples, when), unit(kept), usage[place])
    return book.found


class _Book:
    """Writes down what is found in one snapshot after the other."""

    def __init__(self) -> None:
        self.found = AtomsOverTime()
        self._before: NDArray | None = None  # the atoms of the last snapshot
        self._lives, self._n_lives = np.zeros(0, int), 0
        self._resting = np.zeros(0, bool)

    def turn(self, moment: tuple[int, Any], atoms: NDArray, usage: NDArray) -> None:
        """Take in a snapshot."""
        similarity = np.full(len(atoms), np.nan)
        if self._before is None:
            self._lives, self._n_lives = np.arange(len(atoms)), len(atoms)
            self._resting = np.zeros(len(atoms), bool)
        else:
            similarity = self._follow(moment, _Step(self._before, atoms))
            # After the lives are known: an atom that is replaced neither rests nor returns.
            self._rest(moment, usage)
        self._before = atoms
        self.found.moments.extend(
            Moment(*moment, atom, life, float(similarity[atom]), float(usage[atom]))
            for atom, life in enumerate(self._lives.tolist())
        )

    def _follow(self, moment: tuple[int, Any], step: _Step) -> NDArray:
        """Give atoms their lives, and return their similarities to what they were."""
        before, lives = self._lives, np.full(len(step.new), -1)
        similarity, resting = np.full(len(lives), np.nan), np.zeros(len(lives), bool)
        for old, new in step.same.items():
            lives[new], similarity[new] = before[old], step.cosines[old, new]
            resting[new] = self._resting[old]
        for new in np.flatnonzero(lives < 0).tolist():
            lives[new] = self._n_lives
            self._n_lives += 1
        for kind, atom, other in step.changes():
            # New atoms have their numbers in this snapshot, gone ones in the last.
            own, others = (lives, before) if kind in ("birth", "split") else (before, lives)
            whose = None if other is None else int(others[other])
            self.found.events.append(Event(*moment, kind, atom, int(own[atom]), whose))
        self._lives, self._resting = lives, resting
        return similarity

    def _rest(self, moment: tuple[int, Any], usage: NDArray) -> None:
        """Note which atoms are no longer used, or are used again."""
        rests: NDArray = np.less(usage, UNUSED / len(usage))
        for atom in np.flatnonzero(np.not_equal(rests, self._resting)).tolist():
            kind = "rest" if rests[atom] else "return"
            self.found.events.append(Event(*moment, kind, atom, int(self._lives[atom]), None))
        self._resting = rests


class _Step:
    """Which atoms of a snapshot are which of the one before."""

    def __init__(self, old: NDArray, new: NDArray) -> None:
        from atomstream.dictionaries.matching import align  # a short run has no two snapshots

        self.old, self.new = old, new
        # With both signs, an atom and its negative are the same direction.
        self.signed = bool((old < 0).any() and (new < 0).any())
        cosines = old @ new.T
        self.cosines = np.abs(cosines) if self.signed else cosines
        # The best pairs of all together, not the nearest of each: two atoms must not claim the same
        # one.
        partner = align(old, new).order
        # Halfway between different atoms and the same one: dictionaries of similar atoms need more
        # to tell them apart.
        least = (1 + _background(new, self.signed)) / 2
        pairs = [(i, int(j)) for i, j in enumerate(partner) if j >= 0]
        self.same = {i: j for i, j in pairs if self.cosines[i, j] >= least or not new[j].any()}
        self.old_of = {j: i for i, j in self.same.items()}

    def changes(self) -> Iterator[tuple[str, int, int | None]]:
        """Yield kinds of events, the atom that is new or gone, and the other one, if any."""
        for j in range(len(self.new)):
            if j not in self.old_of:
                # An atom that makes the rest of an old one whole was split from it; otherwise it is
                # new.
                of = _whole(self.new[j], self.old, self.new, self.same, self.signed)
                yield ("birth", j, None) if of is None else ("split", j, of)
        for i in range(len(self.old)):
            if i not in self.same:
                # The same with the two snapshots exchanged.
                into = _whole(self.old[i], self.new, self.old, self.old_of, self.signed)
                yield ("death", i, None) if into is None else ("merge", i, into)


def _whole(
    part: NDArray, wholes: NDArray, rests: NDArray, pairs: dict[int, int], signed: bool
) -> int | None:
    """Return the atom that was one with ``part``: its partner leaves what ``part`` explains."""
    alike = np.abs(wholes @ part) if signed else wholes @ part
    nearest = sorted(pairs, key=lambda whole: -alike[whole])[:NEAREST]
    gains = {}
    for whole in nearest:
        rest = pairs[whole]
        left = _left(wholes[whole], rests[[rest]], signed)
        both = _left(wholes[whole], np.array([rests[rest], part]), signed)
        if left > MAX_UNEXPLAINED and both <= (1 - HALF) * left:
            gains[whole] = left - both
    return max(gains, key=gains.__getitem__) if gains else None


def _left(target: NDArray, parts: NDArray, signed: bool) -> float:
    """Return the share of a vector of length one that a combination of others leaves."""
    if signed:
        codes = np.linalg.lstsq(parts.T, target, rcond=None)[0]
    else:
        # Nonnegative atoms may only be added up, as the model does.
        codes = scipy.optimize.nnls(parts.T, target)[0]
    return float(((target - codes @ parts) ** 2).sum())


def _background(atoms: NDArray, signed: bool) -> float:
    """Return the median cosine of different atoms, 0 where there is one."""
    used = atoms[atoms.any(axis=1)]
    # No pair, no background.
    if len(used) < 2:
        return 0.0
    cosines = (used @ used.T)[np.triu_indices(len(used), 1)]
    return float(np.median(np.abs(cosines) if signed else np.maximum(cosines, 0)))


def _usage(history: Trace) -> NDArray:
    """Return the mean share of each atom between snapshots, NaN where it is not known."""
    shots = history.snapshots
    n_atoms = len(shots.atoms[0]) if len(shots) else 0
    points = history.points["usage"]
    steps = np.array(history.points["step"], float)
    means = np.full((len(shots), n_atoms), np.nan)
    for place, step in enumerate(shots.steps):
        # The stretch since the snapshot before.
        first = shots.steps[place - 1] if place else 0
        inside = np.flatnonzero((steps > first) & (steps <= step))
        known = [points[i] for i in inside if len(points[i]) == n_atoms]
        if known:
            means[place] = np.mean(known, axis=0)
    return means


def lives_of(history: Trace, notes: Mapping[str, Any]) -> AtomsOverTime:
    """Return what became of the atoms of a run.

    Parameters
    ----------
    history : Trace
    notes : mapping
        What the run keeps; ``stream_dates`` are dates of samples of a pass, evenly spaced and in
        their order, ``n_documents`` is how many samples a pass has.
    """
    found, dates = atoms_over_time(history), notes.get("stream_dates")
    if dates is None:
        return found

    def dated(one: Any) -> Any:
        """Return a moment or an event with the date of its sample."""
        # Passes meet the same documents again; dates are kept evenly spaced over one pass.
        place = (one.n_samples - 1) % notes["n_documents"]
        return one._replace(when=str(dates[place * len(dates) // notes["n_documents"]]))

    return AtomsOverTime([*map(dated, found.moments)], [*map(dated, found.events)])
