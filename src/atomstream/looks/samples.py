"""The samples that use each atom most: kept beside a model, and shown in its report."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base import of_sum_one
from atomstream.io.series_table import SeriesTable
from atomstream.looks import cards
from atomstream.looks.cards import Picture
from atomstream.streams.cuts import windows
from atomstream.watch import Trace

MAX_SAMPLES_PER_ATOM = 4  # samples kept of each atom
SHOWN = 3  # series of a window that are drawn
WINDOWS_AT_ONCE = 4096  # windows coded at a time
MOST_BYTES = 1 << 23  # of all pictures
MAX_USED = 3  # atoms named beside a sample
MIN_SHARE = 1e-3  # share of a code from which on a sample uses an atom
MAX_TIMES = 60


class Sample(NamedTuple):
    """A sample that uses an atom.

    Attributes
    ----------
    label : str
        Its name, such as its date or its place in the stream.
    text : str
        Its parts by their names; empty where they have none.
    values : ndarray
        Its values as they are drawn; of one shape for all samples of a run.
    """

    label: str
    text: str
    values: NDArray


class Samples:
    """The samples that use each atom most, of those that were looked at so far.

    Attributes
    ----------
    n_seen : int
        Number of samples that were looked at.
    """

    def __init__(self) -> None:
        self.n_seen = 0
        self._codes: NDArray | None = None
        self._kept: list[Sample] = []

    def look(self, codes: NDArray, sample: Callable[[int], Sample]) -> None:
        """Look at a block of samples.

        Parameters
        ----------
        codes : ndarray of shape (n_samples, n_atoms)
        sample : callable
            Returns a sample by its row in the block; called only for those that are kept.
        """
        kept, self.n_seen = self._kept, self.n_seen + len(codes)
        codes = codes if self._codes is None else np.concatenate([self._codes, codes])
        # The best of all so far: those kept compete with the new ones, so blocks may be of any
        # size.
        best = np.unique(np.argsort(-np.abs(codes), axis=0, kind="stable")[:MAX_SAMPLES_PER_ATOM])
        self._codes = codes[best]
        # Made only for those that stay: a sample may be a large picture.
        self._kept = [kept[i] if i < len(kept) else sample(i - len(kept)) for i in best.tolist()]

    def notes(self) -> dict[str, Any]:
        """Return what a checkpoint keeps of them; pictures only as far as there is room."""
        if self._codes is None:
            return {}
        labels, texts, values = zip(*self._kept, strict=True)
        notes = {
            "n_looked_at": self.n_seen,
            "sample_codes": np.asarray(self._codes, np.float64),
            "sample_labels": np.array(labels, object),
            "sample_texts": np.array(texts, object),
        }
        # Single precision: they are looked at, not learned from.
        pictures = np.array(values, np.float32)
        return notes | ({"sample_values": pictures} if pictures.nbytes <= MOST_BYTES else {})


def samples_of_windows(
    values: NDArray, table: SeriesTable, size: int, code: Callable[[NDArray], NDArray]
) -> Samples:
    """Return the windows of series that use each atom most, of those without missing entries.

    Half of a window lies between one and the next, or the same days were shown again and again.

    Parameters
    ----------
    values : ndarray of shape (n_times, n_series)
        As they were learned.
    table : SeriesTable
        Names the times and the series.
    size : int
        Number of times in a window.
    code : callable
        Returns the codes of windows, each flattened to a row.
    """
    found, stride, n_windows = Samples(), max(1, size // 2), 0

    def window(firsts: NDArray, i: int) -> Sample:
        """Return a window with the series that are largest in it."""
        first, last = int(firsts[i]), int(firsts[i]) + size - 1
        near = values[first : last + 1]
        largest = np.argsort(-np.abs(near).mean(axis=0), kind="stable")[:SHOWN]
        text = ", ".join(str(table.names[series]) for series in largest)
        return Sample(f"{table.labels[first]} to {table.labels[last]}", text, near[:, largest])

    for rows in windows(values, size, WINDOWS_AT_ONCE, stride=stride):
        whole = np.flatnonzero(~np.isnan(rows).any(axis=1))
        if len(whole):
            found.look(code(rows[whole]), partial(window, (n_windows + whole) * stride))
        n_windows += len(rows)
    return found


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
        return of_sum_one(np.abs(self.codes))

    def errors(self) -> NDArray | None:
        """Return the mean error of the samples of each atom, weighed by its use of them."""
        if self.lost is None or self.energy is None:
            return None
        # Each sample counts for an atom by the share that the atom has in it.
        lost, energy = self.lost @ self.shares, self.energy @ self.shares
        return np.divide(lost, energy, out=np.full(len(lost), np.nan), where=energy > 0)

    def of(self, atom: int) -> list[cards.Sample]:
        """Return the samples that use an atom most."""
        order = np.argsort(-np.abs(self.codes[:, atom]), kind="stable")[:MAX_SAMPLES_PER_ATOM]
        return [self._sample(int(i), atom) for i in order if self.shares[i, atom] > MIN_SHARE]

    def _sample(self, i: int, atom: int) -> cards.Sample:
        shares = self.shares[i]
        most = np.argsort(-shares, kind="stable")[:MAX_USED]
        uses = [(int(j), float(shares[j])) for j in most if shares[j] > MIN_SHARE]
        picture, text = self.picture and self.picture(i), self.text(i) if self.text else ""
        return cards.Sample(self.label(i), float(shares[atom]), picture, text, uses)


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


def usage_of(history: Trace, unit: str) -> UsageOverTime | None:
    """Return the shares of the atoms along the stream: means of at most so many stretches."""
    usage, n_samples = history.points["usage"], history.n_samples
    # Shares of fewer atoms than now cannot be averaged with the others.
    kept = [i for i, shares in enumerate(usage) if shares and len(shares) == len(usage[-1])]
    if len(kept) < 2:
        return None
    parts = np.array_split(np.array(kept), min(len(kept), MAX_TIMES))
    places = [n_samples[part[-1]] for part in parts]
    shares = np.array([np.mean([usage[i] for i in part], axis=0) for part in parts])
    return UsageOverTime([f"{place:,} {unit}" for place in places], shares, places)
