"""What files may hold: the models, parts and changing values that are known by name, and what learning makes of each.

No class is looked up by a name from a file anywhere else.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from atomstream import coders, losses, penalties, schedules, updates
from atomstream.coders import tolerances
from atomstream.core.batch import Batch
from atomstream.core.clock import Clock
from atomstream.core.low_rank import Product
from atomstream.core.state import State
from atomstream.dictionaries.hulls import Hulls
from atomstream.dictionaries.loadings import Loadings
from atomstream.dictionaries.rows import Rows
from atomstream.domains.images.patch_classes import PatchClassifier
from atomstream.domains.networks import motifs
from atomstream.domains.series.frames import Form
from atomstream.domains.series.time_index import Times
from atomstream.domains.tensors.axes import Axes
from atomstream.domains.text import vocabulary
from atomstream.domains.walks.label_index import StateIndex
from atomstream.estimators.color import ColorRestorer
from atomstream.estimators.convex import OnlineConvexMF
from atomstream.estimators.cp import OnlineCPDictionary
from atomstream.estimators.dictionary_learning import OnlineDictionaryLearning
from atomstream.estimators.image import ImageDictionary
from atomstream.estimators.network import NetworkDictionary
from atomstream.estimators.nmf import OnlineNMF
from atomstream.estimators.series import MADE, SeriesDictionary
from atomstream.estimators.topics import TopicModel
from atomstream.estimators.video import VideoDictionary
from atomstream.estimators.walk import RandomWalkFactorization
from atomstream.memory.gram import Aggregates
from atomstream.memory.majorant import MAJORANT_SUMS, Majorants
from atomstream.memory.subgradient import Subgradient
from atomstream.memory.usage import Usage
from atomstream.updates.hebbian import HebbianFactor

__all__ = ["CHANGING", "LEARNED", "MODELS", "NAMED_CHANGING", "PARTS"]

MODELS = {
    model.__name__: model
    for model in (
        ColorRestorer,
        ImageDictionary,
        NetworkDictionary,
        OnlineCPDictionary,
        OnlineConvexMF,
        OnlineDictionaryLearning,
        OnlineNMF,
        RandomWalkFactorization,
        SeriesDictionary,
        TopicModel,
        VideoDictionary,
    )
}
# Parts are frozen dataclasses: their fields are all there is.
PARTS = {
    name: part
    for module in (coders, losses, motifs, penalties, schedules, tolerances, updates, vocabulary)
    for name in module.__all__
    if is_dataclass(part := getattr(module, name)) and isinstance(part, type)
} | {"Form": Form, "Times": Times}
# What changes while learning: the attributes that make it up.
CHANGING: dict[type, tuple[str, ...]] = {
    State: ("dictionary", "memory", "usage"),
    Rows: ("_rows",),
    Loadings: ("_matrices",),
    Product: ("left", "right"),
    Hulls: Hulls.PARTS,
    Batch: ("X", "weights", "mask", "ids", "labels", "position"),
    Axes: tuple(field.name for field in fields(Axes)),
    Aggregates: ("gram", "cross", "constant"),
    Majorants: ("exponents", *MAJORANT_SUMS),
    Subgradient: ("slope", "pulls", "errors", "energy", "constant"),
    Usage: ("total", "idle"),
    Clock: tuple(field.name for field in fields(Clock)),
    HebbianFactor: HebbianFactor.PARTS,
    PatchClassifier: PatchClassifier.PARTS,
    StateIndex: ("names",),
}
NAMED_CHANGING = {changing.__name__: changing for changing in CHANGING}
DICTIONARY = (
    "state_",
    "clock_",
    "_rng",
    "_loss",
    "n_reseeded_",
    "batch_objective_",
    "n_features_in_",
    "feature_names_in_",
)
# What learning makes, by model.
LEARNED: dict[type, tuple[str, ...]] = {
    OnlineDictionaryLearning: DICTIONARY,
    OnlineNMF: DICTIONARY,
    OnlineCPDictionary: (*DICTIONARY, "axes_", "norm_"),
    OnlineConvexMF: (*DICTIONARY, "_buffer", "classes_"),
    RandomWalkFactorization: (
        "factor_",
        "index_",
        "visits_",
        "last_",
        "n_visits_",
        "change_",
        "partition_",
        "_look",
        "_basis",
    ),
    ColorRestorer: ("dictionaries_", "classifier_"),
    ImageDictionary: ("learner_", "patch_shape_", "_rng"),
    NetworkDictionary: ("learner_", "motif_", "position_", "_rng", "_totals", "_spacing"),
    TopicModel: ("learner_", "vocabulary_"),
    VideoDictionary: ("learner_", "frame_shape_", "_mode", "_kept", "_kept_times"),
    SeriesDictionary: MADE,
}
