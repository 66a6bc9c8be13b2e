"""The one table of the parameters of the estimators: what each is for, and what it may be.

An estimator names its own entry as ``PARAMETERS``; the other parameters of its constructor, where
the defaults stand, are those of ``SHARED``. What several parameters must be together is checked by
the estimators, and names of parts are resolved in `registry`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from sklearn.utils._param_validation import HasMethods

from atomstream.base.parameters import (
    ARRAYS,
    FLAG,
    NONE,
    SOURCE,
    THREADS,
    Kind,
    Parameter,
    instance,
    number,
    one_of,
    parameter,
    part,
    whole,
)
from atomstream.estimators.registry import CODERS, FAMILIES, LOSSES, SCHEDULES, SETS, UPDATERS
from atomstream.loop import SCALES, Scaling

Table: TypeAlias = dict[str, Parameter]

COUNT, AMOUNT, LIST, TUPLE, TEXT = whole(), number(), instance(list), instance(tuple), instance(str)
STARTS = ("auto", "samples", "spread", "svd", "random")
SET = part("prox", SETS)
AUTO_SET = part("prox", {*SETS, "auto"})

# Those that several estimators have.
SHARED: Table = {
    "n_components": parameter("Number of atoms.", COUNT),
    "alpha": parameter("Strength of the l1 penalty on the codes.", AMOUNT),
    "ridge": parameter("Strength of the squared l2 penalty on the codes.", AMOUNT),
    "damping": parameter("Added to the diagonal of the averaged gram of the codes.", AMOUNT),
    "codes": parameter("Set of the codes.", SET),
    "atoms": parameter("Set of the atoms.", SET),
    "coder": parameter("What finds the codes.", part("encode", CODERS)),
    "schedule": parameter(
        "Weights of the past: power, harmonic, polynomial, log_polynomial, constant or adaptive.",
        part("__call__", SCHEDULES),
    ),
    "patch_size": parameter("Height and width of a patch, in pixels.", COUNT),
    "n_patches": parameter("Patches to learn from.", COUNT),
    "batch_size": parameter("Rows per step.", COUNT),
    "n_epochs": parameter("Passes over the data.", COUNT, NONE),
    "shuffle": parameter("Whether each pass has an order of its own.", FLAG),
    "init": parameter("The starting dictionary.", one_of(*STARTS), ARRAYS),
    "fixed_components": parameter("Which rows of init are kept as they are.", whole(0), ARRAYS),
    "missing": parameter("Treat NaN as missing entries.", FLAG),
    "n_jobs": parameter("The most threads; -1 takes all.", THREADS, NONE),
    "max_time": parameter("Seconds after which learning ends.", AMOUNT, NONE),
    "random_state": parameter("Random seed.", SOURCE, NONE),
    "loss": parameter(
        "squared, kl, is, hellinger, huber[:DELTA], l1, l2, trimmed[:THRESHOLD], beta:BETA or "
        "alpha:ALPHA.",
        part("gradient", {*LOSSES, *(f"{family}:NUMBER" for family in FAMILIES)}),
    ),
    "scale": parameter(
        "Scale of the columns, learned from the rows and undone in reconstructions: none, std, "
        "max, log1p, tfidf or, for models of signed data, zscore.",
        one_of(*SCALES),
        instance(Scaling),
    ),
    "updater": parameter(
        "auto, majorise, or spsg (projected stochastic subgradient steps).",
        part("update", {*UPDATERS, "auto"}),
    ),
}


class Allowed(HasMethods):
    """A parameter in scikit-learn's form, for its tools."""

    def __init__(self, declared: Parameter) -> None:
        super().__init__("accepts")
        self.declared = declared

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether the parameter takes a value."""
        return self.declared.accepts(val)

    def __str__(self) -> str:
        return str(self.declared)


def constraints(table: Table) -> dict[str, list[Allowed]]:
    """Return a table in scikit-learn's form."""
    return {name: [Allowed(declared)] for name, declared in table.items()}


def completed(own: Table, names: Iterable[str]) -> Table:
    """Return the parameters of a model with these names: its own entries, and shared ones."""
    return {name: SHARED[name] for name in names if name in SHARED} | own


def table(**own: Parameter | str | tuple[Kind, ...]) -> Table:
    """Return entries of one estimator; a text or a tuple changes help or kinds of a shared one."""
    made = {}
    for name, it in own.items():
        if isinstance(it, str):
            it = Parameter(it, SHARED[name].kinds)
        made[name] = Parameter(SHARED[name].help, it) if isinstance(it, tuple) else it
    return made


AUTO_AMOUNT = (AMOUNT, one_of("auto"))
NMF = table(codes=(AUTO_SET,), atoms=(AUTO_SET,), ridge=AUTO_AMOUNT)
DICTIONARY = NMF | table(alpha=AUTO_AMOUNT)
BATCHES = table(
    ridge=AUTO_AMOUNT,
    n_shared=parameter("Number of atoms that all data sets share.", COUNT),
    n_own=parameter("Number of atoms of each data set alone.", whole(0)),
    data_sets=parameter("Names of all data sets, if known.", ARRAYS, NONE),
)
