"""The classes that model files may name: fixed tables, each class imported when a file needs it.

No class is looked up by a name from a file anywhere else.
"""

from contextlib import suppress
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any

# Estimators; each names the attributes made by learning in ``LEARNED``.
MODELS = {
    "BatchNMF": "atomstream.estimators.batch_nmf",
    "ColorRestorer": "atomstream.estimators.color",
    "ConsensusNMF": "atomstream.estimators.consensus",
    "ImageDictionary": "atomstream.estimators.image",
    "NetworkDictionary": "atomstream.estimators.network",
    "OnlineCPDictionary": "atomstream.estimators.cp",
    "OnlineConvexMF": "atomstream.estimators.convex",
    "OnlineDictionaryLearning": "atomstream.estimators.dictionary_learning",
    "OnlineNMF": "atomstream.estimators.nmf",
    "RandomWalkFactorization": "atomstream.estimators.walk",
    "SeriesDictionary": "atomstream.estimators.series",
    "SupervisedDictionary": "atomstream.estimators.supervised",
    "SupervisedNetworkDictionary": "atomstream.estimators.supervised_network",
    "TopicModel": "atomstream.estimators.topics",
    "VideoDictionary": "atomstream.estimators.video",
}
# Values that learning changes; each names the attributes that make it up in ``SAVED``.
VALUES = {
    "Aggregates": "atomstream.memory.gram",
    "Axes": "atomstream.domains.tensors",
    "Batch": "atomstream.problem.batch",
    "Choice": "atomstream.base.chosen",
    "Clock": "atomstream.problem.clock",
    "ColumnSums": "atomstream.memory.column_sums",
    "Columns": "atomstream.base.columns",
    "Consensus": "atomstream.estimators._agreement",
    "ConvolutionalClassifier": "atomstream.domains.images.classifiers",
    "Ensemble": "atomstream.estimators._ensemble",
    "HebbianFactor": "atomstream.updates.hebbian",
    "HeadState": "atomstream.domains.series.head_state",
    "Hulls": "atomstream.dictionaries.hulls",
    "LabelTerms": "atomstream.memory.labelled",
    "LabelledAggregates": "atomstream.memory.labelled",
    "LagCoefficients": "atomstream.domains.series.lag_regression",
    "Loadings": "atomstream.dictionaries.loadings",
    "Majorants": "atomstream.memory.majorant",
    "TrimmedAggregates": "atomstream.memory.trimmed",
    "Normalized": "atomstream.dictionaries.normalized",
    "Predicting": "atomstream.dictionaries.predicting",
    "PatchClassifier": "atomstream.domains.images.classifiers",
    "LowRank": "atomstream.dictionaries.low_rank",
    "RankChoice": "atomstream.estimators._rank_choice",
    "Reactive": "atomstream.loop.reactive",
    "RowDraws": "atomstream.base.bootstrap",
    "Rows": "atomstream.dictionaries.rows",
    "Scaling": "atomstream.loop.scaling",
    "Seen": "atomstream.loop.seen",
    "Smoothed": "atomstream.domains.series.smoothing",
    "State": "atomstream.memory.state",
    "StateIndex": "atomstream.domains.walks.states",
    "StreamedRounds": "atomstream.loop.streamed_rounds",
    "Subgradient": "atomstream.memory.subgradient",
    "Usage": "atomstream.memory.state",
    "Verdict": "atomstream.estimators._structure",
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
DOMAIN_PARTS = {
    "Form": "atomstream.domains.series.frames",
    "Head": "atomstream.domains.series.head",
    "LastKnown": "atomstream.domains.series.levels",
    "Levels": "atomstream.domains.series.levels",
    "Motif": "atomstream.domains.networks.motifs",
    "Times": "atomstream.io.time_index",
    "Vocabulary": "atomstream.domains.text.vocabulary",
}


def model_class(name: str) -> Any:
    """Return the estimator of this name."""
    return getattr(import_module(MODELS[name]), name)


def value_class(name: str) -> Any:
    """Return the class of a value that learning changes."""
    return getattr(import_module(VALUES[name]), name)


def part_class(name: str) -> Any:
    """Return the class of a part of the library.

    Raises
    ------
    KeyError
        For names of no part.
    """
    if name in DOMAIN_PARTS:
        return getattr(import_module(DOMAIN_PARTS[name]), name)
    # Lazy modules: only the one that has the name loads what it needs.
    for module in map(import_module, PART_MODULES):
        if name in module.__all__ and _is_part(module, name):
            return getattr(module, name)
    raise KeyError(name)


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
    tables = (MODELS, VALUES, DOMAIN_PARTS, {"Learner": "atomstream.loop.learner"})
    named = {f"{module}.{name}" for table in tables for name, module in table.items()}
    parts = library_parts().values()
    return sorted(named | {f"{part.__module__}.{part.__qualname__}" for part in parts})


def tag_of(value: object) -> str:
    """Return what a value is in a file: "model", "changing", "part", "own", or "" for nothing."""
    kind = type(value)
    name, module = kind.__name__, kind.__module__
    # Name and module both: a class of the user may have the name of one of ours.
    if MODELS.get(name) == module:
        return "model"
    if VALUES.get(name) == module:
        return "changing"
    with suppress(KeyError):
        if part_class(name) is kind:
            return "part"
    # A class of ours that is in no table is not for files, even where it is a dataclass.
    own = not module.startswith("atomstream.") and (is_dataclass(kind) or hasattr(kind, "SAVED"))
    return "own" if own else ""
