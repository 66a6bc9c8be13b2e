"""When did the stream change, and what changed? A callback that watches the loss of batches."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import check_count
from atomstream.watch import Callback, DriftDetector, Shares, TaskContext, loss_of

MOST_PARTS = 10  # features and atoms that a change names


class ChangedFeature(NamedTuple):
    """A feature or an atom before and after a change.

    Attributes
    ----------
    name : str or int
        Of a feature, where the data have names; else its number, or that of the atom, from 0.
    before, after : float
        Mean squared error of a feature; share of an atom in the codes.
    """

    name: str | int
    before: float
    after: float


@dataclass(frozen=True)
class Change:
    """A change of a stream.

    Attributes
    ----------
    n_samples : int
        Number of samples seen when the alarm was given.
    began : int
        Number of samples seen before those that began to be worse.
    step : int
        Number of batches seen when the alarm was given.
    features : list of ChangedFeature
        The ten features whose errors rose most, most first.
    atoms : list of ChangedFeature
        The ten atoms whose shares of the codes, times their lengths, changed most, most first.
    cause : {"loss", "usage"}
        What gave the alarm: the loss of batches, or the use of the one atom that is named.
    """

    n_samples: int
    began: int
    step: int
    features: list[ChangedFeature]
    atoms: list[ChangedFeature]
    cause: str = "loss"


@dataclass(eq=False)
class ChangeWatch(Callback):
    """A watch over the loss of batches that says when the stream changed, and what changed.

    The alarm is that of `DriftDetector`, on the logarithm of the mean objective of each batch
    before the model has learned from it. Errors of features and shares of atoms are means over the
    near past, and over the batches since the alarm began to build up.

    Parameters
    ----------
    false_alarm_every : float, default=10_000
        Mean number of batches between two false alarms; at least 10.
    n_rows : int, default=16
        Rows of each batch from which errors of features are measured; at least 1.
    usage : bool, default=False
        Whether changes in the use of atoms give alarms too: the shares of the atoms in the codes of
        each batch, whichever way they move. All atoms together give a false alarm as rarely as the
        loss does. A stream may speak of something else with the atoms it has, at the same loss.
    on_alarm : callable, optional
        Called with each `Change` as it is found, while the fit goes on.

    Attributes
    ----------
    found : list of Change
        The alarms of the fit, in their order.

    Raises
    ------
    ValueError
        For settings out of range.

    Notes
    -----
    The watch changes nothing. ``schedule="adaptive"`` lets a model forget what came before changes.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import OnlineNMF
    >>> from atomstream.watch.changes import ChangeWatch
    >>> rng = np.random.default_rng(0)
    >>> parts = rng.random((2, 3, 8))
    >>> watch = ChangeWatch()
    >>> model = OnlineNMF(3, schedule="harmonic", random_state=0).set_callbacks(watch)
    >>> model = model.fit_stream(rng.random((20, 3)) @ parts[int(t >= 300)] for t in range(400))
    >>> [change.began for change in watch.found]
    [6020]
    """

    false_alarm_every: float = 10_000
    _: KW_ONLY
    n_rows: int = 16
    usage: bool = False
    on_alarm: Callable[[Change], object] | None = None

    def __post_init__(self) -> None:
        check_count("n_rows", self.n_rows)
        self._begin()

    def setup(self, estimator: object, context: TaskContext) -> None:
        """Forget earlier fits."""
        self._begin()

    def _begin(self) -> None:
        self.found: list[Change] = []
        self._detector = DriftDetector(self.false_alarm_every)
        self._errors, self._usage = (Shares(self._detector.reach) for _ in range(2))
        self._atoms: list[_AtomWatch] = []
        self._began = 0  # samples before a change may have begun

    def on_batch_end(self, estimator: Any) -> None:
        """Look at a batch."""
        alarm = self._detector.update(loss_of(estimator.batch_objective_))
        normal = self._detector.since == 0
        self._errors.update(self._squared_errors(estimator), normal=normal)
        usage = estimator._progress.delta.usage
        shares = usage / (usage.sum() or 1.0)
        self._usage.update(shares, normal=normal)
        if self.usage:
            self._judge_usage(estimator, shares)
        if alarm:
            self._tell(self._change(estimator))
            self._errors, self._usage = (Shares(self._detector.reach) for _ in range(2))
        if normal or alarm:
            self._began = estimator.n_samples_seen_

    def _judge_usage(self, estimator: Any, shares: NDArray) -> None:
        """Look whether an atom is used more or less than it was."""
        if len(self._atoms) != len(shares):
            # Two detectors for each atom, and all of them together as rare as asked.
            every = 2 * len(shares) * self.false_alarm_every
            self._atoms = [_AtomWatch(atom, every) for atom in range(len(shares))]
        n_samples, step = estimator.n_samples_seen_, estimator.n_steps_
        for watch, share in zip(self._atoms, shares.tolist(), strict=True):
            began, part = watch.update(share, n_samples)
            if part is not None:
                self._tell(Change(n_samples, began, step, [], [part], "usage"))

    def _tell(self, change: Change) -> None:
        self.found.append(change)
        if self.on_alarm is not None:
            self.on_alarm(change)

    def _squared_errors(self, estimator: Any) -> NDArray:
        """Return the mean squared error of each feature, on some rows of the newest batch."""
        progress, few = estimator._progress, slice(self.n_rows)
        made = estimator.state_.dictionary.decode(progress.codes.values[few])
        X = progress.batch.of(few).complete(made)
        X = X.toarray() if sp.issparse(X) else X
        return np.asarray(np.mean((X - made) ** 2, axis=0))

    def _change(self, estimator: Any) -> Change:
        names = getattr(estimator, "feature_names_in_", None)
        features = _parts(self._errors, names, rising=True)
        atoms = _parts(self._usage, None, rising=False)
        return Change(estimator.n_samples_seen_, self._began, estimator.n_steps_, features, atoms)


class _AtomWatch:
    """A watch over the share of one atom, both ways; its root has about the same spread at all."""

    def __init__(self, atom: int, false_alarm_every: float) -> None:
        self._atom = atom
        self._detectors = [DriftDetector(false_alarm_every) for _ in range(2)]
        self._began, self._shares = 0, Shares(self._detectors[0].reach)

    def update(self, share: float, n_samples: int) -> tuple[int, ChangedFeature | None]:
        """Take in a share; return since when it is another, and from what to what, if it is."""
        root = share**0.5
        # Shares are counts, more or less: a root has about one spread, whatever their size.
        up, down = self._detectors
        # Both see the value, even if the first gives the alarm.
        alarms = [up.update(root), down.update(-root)]
        normal = up.since == down.since == 0
        self._shares.update(np.array([share]), normal=normal)
        if normal:
            self._began = n_samples
        if not any(alarms):
            return self._began, None
        began, parts = self._began, _parts(self._shares, None, rising=False)
        for detector in self._detectors:
            detector.restart()
        self._began, self._shares = n_samples, Shares(up.reach)
        return began, parts[0]._replace(name=self._atom) if parts else None


def _parts(shares: Shares, names: Sequence[str] | None, *, rising: bool) -> list[ChangedFeature]:
    """Return what differs most, most first."""
    before, after = shares.before, shares.after
    if before is None or after is None:
        return []
    # Errors are of interest where they rise, shares whichever way they went.
    gain = after - before if rising else np.abs(after - before)
    order = np.argsort(-gain, kind="stable")[:MOST_PARTS]
    called = order.tolist() if names is None else [str(names[i]) for i in order]
    return list(map(ChangedFeature, called, before[order].tolist(), after[order].tolist()))
