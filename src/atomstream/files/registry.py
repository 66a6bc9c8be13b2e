"""The classes that model files may name: tables here and in fields, each class loaded when needed.

No class is looked up by a name from a file anywhere else.
"""

from contextlib import suppress
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any

from atomstream.base.declared import declared, find

# Estimators of the matrix itself, to which fields add theirs; each names the attributes made by
# learning in ``LEARNED``.
MODELS = {
    "BatchNMF": "atomstream.estimators.batch_nmf",
    "OnlineDictionaryLearning": "atomstream.estimators.dictionary_learning",
    "OnlineNMF": "atomstream.estimators.nmf",
}
# Values that learning changes; each names the attributes that make it up in ``SAVED``.
VALUES = {
    "Aggregates": "atomstream.memory.gram",
    "Axes": "atomstream.base.axes",
    "Batch": "atomstream.problem.batch",
    "Choice": "atomstream.base.chosen",
    "Clock": "atomstream.problem.clock",
    "ColumnSums": "atomstream.memory.column_sums",
    "Columns": "atomstream.base.columns",
    "Majorants": "atomstream.memory.majorant",
    "TrimmedAggregates": "atomstream.memory.trimmed",
    "Normalized": "atomstream.dictionaries.normalized",
    "LowRank": "atomstream.dictionaries.low_rank",
    "Reactive": "atomstream.loop.reactive",
    "RowDraws": "atomstream.base.bootstrap",
    "Rows": "atomstream.dictionaries.rows",
    "Scaling": "atomstream.loop.scaling",
    "Seen": "atomstream.loop.seen",
    "State": "atomstream.memory.state",
    "StateIndex": "atomstream.base.states",
    "StreamedRounds": "atomstream.loop.streamed_rounds",
    "Subgradient": "atomstream.memory.subgradient",
    "Usage": "atomstream.memory.state",
}
# Parts: the dataclasses among the public names of these modules, and those named here. Their fields
# are all there is, and their constructors refuse settings out of range.
PART_MODULES = (
    "atomstream.coders",
    "atomstream.coders.tolerances",
    "atomstream.losses",
    "atomstream.penalties",
    "atomstream.schedules",
    "atomstream.updates",
)
PARTS = {"Times": "atomstream.io.time_index"}


def models() -> dict[str, str]:
    """Return the modules of all models that files may name, those of fields among them."""
    return MODELS | declared("models")


def model_class(name: str) -> Any:
    """Return the estimator of this name."""
    return getattr(import_module(_module("models", name)), name)


def is_model(kind: type) -> bool:
    """Return whether a class is a model that is named here, or declared by a field."""
    with suppress(KeyError):
        # Name and module both: a class of the user may have the name of one of ours.
        return _module("models", kind.__name__) == kind.__module__
    return False


def value_class(name: str) -> Any:
    """Return the class of a value that learning changes."""
    return getattr(import_module(_module("values", name)), name)


def part_class(name: str) -> Any:
    """Return the class of a part of the library.

    Raises
    ------
    KeyError
        For names of no part.
    """
    # Lazy modules: only the one that has the name loads what it needs.
    for module in map(import_module, PART_MODULES):
        if name in module.__all__ and _is_part(module, name):
            return getattr(module, name)
    return getattr(import_module(_module("parts", name)), name)


def _module(slot: str, name: str) -> str:
    """Return the module of a class that is named here, or declared by a field.

    Raises
    ------
    KeyError
        Where it is neither.
    """
    known = {"models": MODELS, "values": VALUES, "parts": PARTS}[slot]
    found: str | None = known.get(name) or find(slot, name)
    if found is None:
        raise KeyError(name)
    return found


def _is_part(module: Any, name: str) -> bool:
    """Return whether a public name is a part; only this one is loaded, where names are lazy."""
    public = getattr(module, name)
    return isinstance(public, type) and is_dataclass(public)


def library_parts() -> dict[str, type]:
    """Return the parts of algorithms by their names; it loads all of them."""
    modules = map(import_module, PART_MODULES)
    return {n: part_class(n) for module in modules for n in module.__all__ if _is_part(module, n)}


def trusted_types() -> list[str]:
    """Return the names of the types that models of this library are made of, for skops.

    Types of the caller's own, such as a loss, are not among them.

    Returns
    -------
    list of str
        Sorted: what to give to ``skops.io.load(file, trusted=...)``.

    Examples
    --------
    >>> import atomstream
    >>> "atomstream.estimators.nmf.OnlineNMF" in atomstream.trusted_types()
    True
    """
    more = {"Learner": "atomstream.loop.learner"}
    tables = (models(), VALUES, PARTS, declared("values"), declared("parts"), more)
    named = {f"{module}.{name}" for table in tables for name, module in table.items()}
    parts = library_parts().values()
    return sorted(named | {f"{part.__module__}.{part.__qualname__}" for part in parts})


def tag_of(value: object) -> str:
    """Return what a value is in a file: "model", "changing", "part", "own", or "" for nothing."""
    kind = type(value)
    name, module = kind.__name__, kind.__module__
    if is_model(kind):
        return "model"
    with suppress(KeyError):
        if _module("values", name) == module:
            return "changing"
    with suppress(KeyError):
        if part_class(name) is kind:
            return "part"
    # A class of ours that is in no table is not for files, even where it is a dataclass.
    own = not module.startswith("atomstream.") and (is_dataclass(kind) or hasattr(kind, "SAVED"))
    return "own" if own else ""
