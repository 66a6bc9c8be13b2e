"""The one table of what the parameters of the estimators may be, in scikit-learn's form.

Each estimator names its entry as ``_parameter_constraints``, from which scikit-learn's tools read.
A parameter is valid if it meets one of its constraints. What several parameters must be together is
checked by the estimators, and names of parts are resolved in `registry`.
"""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions

from atomstream.core.checks import MOST_COUNT, MOST_NUMBER
from atomstream.core.scaling import SCALES
from atomstream.domains.networks.motifs import Motif
from atomstream.domains.text.vocabulary import KINDS
from atomstream.estimators._walk_scaling import SCALINGS
from atomstream.estimators.registry import (
    CODERS,
    FAMILIES,
    LOSSES,
    SCHEDULES,
    SETS,
    TOLERANCES,
    UPDATERS,
)

__all__ = [
    "ASSIGNMENTS",
    "COLOR",
    "CONSENSUS",
    "CONVEX",
    "CONVEX_CODES",
    "CP",
    "DICTIONARY_LEARNING",
    "IMAGE",
    "MODES",
    "NETWORK",
    "NMF",
    "SERIES",
    "TOPICS",
    "VIDEO",
    "WALK",
]


class Whole(Interval):
    """A whole number of at least ``least``; True and False are none."""

    def __init__(self, least: int = 1, most: int = MOST_COUNT) -> None:
        super().__init__(Integral, least, most, closed="both")

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is such a number."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)

    def __str__(self) -> str:
        most = "2^62" if self.right == MOST_COUNT else self.right
        return f"a whole number from {self.left} to {most}"


class Number(Interval):
    """A number of at least ``least``, or above it; True and False are none."""

    def __init__(self, least: float = 0, most: float = MOST_NUMBER, *, above: bool = False) -> None:
        super().__init__(Real, least, most, closed="right" if above else "both")

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is such a number."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)

    def __str__(self) -> str:
        least = f"above {self.left}, at most" if self.closed == "right" else f"from {self.left} to"
        return f"a number {least} {self.right}"


class Threads(Interval):
    """A number of threads, or -1 for all of them."""

    def __init__(self) -> None:
        super().__init__(Integral, None, None, closed="neither")

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is a number of threads."""
        return not isinstance(val, bool) and isinstance(val, Integral) and val != 0

    def __str__(self) -> str:
        return "a number of threads (-1 for all)"


class Source(Interval):
    """A source of randomness: a seed, or one of NumPy's generators."""

    def __init__(self) -> None:
        super().__init__(Integral, 0, None, closed="left")

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is a seed or a generator."""
        if isinstance(val, np.random.Generator | np.random.RandomState):
            return True
        return not isinstance(val, bool) and super().is_satisfied_by(val)

    def __str__(self) -> str:
        return "a whole number of at least 0, a Generator, a RandomState"


class Flag(Options):
    """True or False."""

    def __init__(self) -> None:
        super().__init__(bool, {True, False})

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is True or False."""
        return isinstance(val, bool | np.bool_)

    def __str__(self) -> str:
        return "True or False"


class Name(StrOptions):
    """One of a few names, which are listed in their order."""

    def __init__(self, *names: str) -> None:
        super().__init__(set(names))
        self.names = names

    def __str__(self) -> str:
        return f"one of {', '.join(self.names)}"


class Part(HasMethods):
    """A part with a method, or a name: the `registry` knows the names, and refuses others."""

    def __init__(self, method: str, known: Collection[str]) -> None:
        super().__init__(method)
        self.known = sorted(known)

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is a name or such a part."""
        if isinstance(val, str | type):
            return isinstance(val, str)
        return super().is_satisfied_by(val)

    def __str__(self) -> str:
        method = self.methods[0]
        part = "a function" if method == "__call__" else f"a part with a method {method!r}"
        return f"one of {', '.join(self.known)}, {part}"


COUNT, AMOUNT, TRUTH, ARRAYS = Whole(), Number(), Flag(), "array-like"
STARTS = ("auto", "samples", "spread", "svd", "random")
ASSIGNMENTS = ("random", "code", "labels", "pooled")  # of OnlineConvexMF
CONVEX_CODES = ("free", "nonnegative", "simplex")
MODES = ("frames", "pixels")  # of VideoDictionary

# Those that several estimators have.
SHARED: dict[str, Any] = {
    "n_components": [COUNT],
    "alpha": [AMOUNT],
    "ridge": [AMOUNT],
    "damping": [AMOUNT],
    "codes": [Part("prox", SETS)],
    "atoms": [Part("prox", SETS)],
    "coder": [Part("encode", {*CODERS, "auto"})],
    "schedule": [Part("__call__", SCHEDULES)],
    "tol": [AMOUNT, Part("__call__", TOLERANCES)],
    "patch_size": [COUNT],
    "n_patches": [COUNT],
    "batch_size": [COUNT],
    "n_epochs": [COUNT],
    "shuffle": [TRUTH],
    "init": [Name(*STARTS), ARRAYS],
    "fixed_components": [Whole(0)],
    "missing": [TRUTH],
    "n_jobs": [Threads(), None],
    "max_time": [AMOUNT, None],
    "random_state": [Source(), None],
}


def _table(shared: str, **own: list[Any]) -> dict[str, list[Any]]:
    """Return the constraints of one estimator: those of shared parameters and its own."""
    return {name: SHARED[name] for name in shared.split()} | own


LEARNING = (
    "n_components alpha ridge damping codes schedule batch_size n_epochs shuffle n_jobs max_time "
    "random_state"
)
CODED = f"{LEARNING} atoms coder tol init fixed_components missing"
DICTIONARY_LEARNING = _table(
    CODED,
    updater=[Part("update", {*UPDATERS, "auto"})],
    n_epochs=[COUNT, None],
    fixed_components=[Whole(0), ARRAYS],
    scale=[Name(*SCALES)],
)
NMF = DICTIONARY_LEARNING | {
    "loss": [Part("gradient", {*LOSSES, *(f"{family}:NUMBER" for family in FAMILIES)})],
    "codes": [Part("prox", {*SETS, "auto"})],
    "atoms": [Part("prox", {*SETS, "auto"})],
    "zeros": [Name("floor", "refuse")],
}
CONSENSUS = _table(
    "batch_size shuffle n_jobs max_time random_state",
    bootstrap=[TRUTH],
    n_components=[COUNT, ARRAYS, None],
    n_replicates=[Whole(2)],
    loss=NMF["loss"],
    model=[HasMethods("fit_stream"), None],
    holdout=[Number(0, 0.5, above=True)],
    block_size=[COUNT],
    n_epochs=[COUNT, None],
)
CONVEX = _table(
    f"{LEARNING} missing",
    n_representatives=[COUNT],
    assignment=[Name(*ASSIGNMENTS)],
    codes=[Part("prox", CONVEX_CODES)],
)
CP = _table(
    CODED,
    atoms=[Part("prox", {*SETS, "bounded"}), list, tuple],
    reshape=[list, tuple, None],
    radius=[Number(above=True), Name("auto"), None],
    n_sweeps=[COUNT],
    init=[Name("random", "samples"), ARRAYS, None],
)
NETWORK = _table(
    "n_components alpha schedule batch_size random_state",
    motif=[str, Motif, ARRAYS, "sparse matrix", HasMethods("nodes")],
    chain=[str, callable],
    n_batches=[COUNT],
    thin=[COUNT],
)
IMAGE = _table(
    "n_components patch_size alpha n_patches batch_size n_jobs random_state",
    stride=[COUNT],
    nonnegative=[TRUTH],
)
COLOR = _table(
    "n_components patch_size alpha n_patches n_jobs random_state",
    classifier=[Name("perceptron", "convolutional")],
    keep_luma=[TRUTH],
)
SERIES = _table(
    "n_components alpha ridge schedule random_state",
    window=[Whole(2)],
    memory=[COUNT, None],
    forecast_alpha=[AMOUNT],
    correction=[Number(0, 1)],
    center=[TRUTH],
    n_init=[COUNT, None],
    n_init_batches=[Whole(0)],
    init_batch_size=[COUNT],
)
TOPICS = _table(
    "n_components alpha schedule batch_size n_epochs random_state",
    vectorizer=[Name(*KINDS)],
    n_features=[Whole(1, 2**31 - 1)],
    stop_words=[Name("english"), ARRAYS, None],
    min_df=[Whole(1, 2**31 - 1)],
)
VIDEO = _table(
    "n_components alpha schedule init random_state",
    mode=[Name(*MODES)],
    snapshots=[ARRAYS],
    grey=[TRUTH],
    nonnegative=[TRUTH],
    batch_size=[COUNT, None],
    n_epochs=[COUNT, None],
)
WALK = _table(
    "n_components random_state",
    n_states=[COUNT, None],
    tau=[COUNT],
    step=[Number(above=True), Name("auto")],
    averaging=[TRUTH],
    scaling=[Name(*SCALINGS)],
    min_visits=[AMOUNT],
    tol=[AMOUNT],
    init=[ARRAYS, None],
)
