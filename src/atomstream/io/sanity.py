"""Whether what was read from a file makes sense: parts that fit together, sizes that agree, numbers that count.

A file with a right digest may still have been made up; whatever is taken from it is looked at here
before use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from atomstream.core.batch import Batch
from atomstream.core.low_rank import Product
from atomstream.dictionaries.hulls import Hulls
from atomstream.dictionaries.loadings import Loadings
from atomstream.dictionaries.rows import Rows
from atomstream.domains.images.patch_classes import PatchClassifier
from atomstream.domains.networks.motifs import Motif
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
from atomstream.estimators.series import SeriesDictionary
from atomstream.estimators.topics import TopicModel
from atomstream.estimators.video import VideoDictionary
from atomstream.estimators.walk import RandomWalkFactorization
from atomstream.io.registry import CHANGING
from atomstream.memory.gram import Aggregates
from atomstream.memory.majorant import Majorants
from atomstream.memory.subgradient import Subgradient
from atomstream.memory.usage import Usage
from atomstream.updates.hebbian import HebbianFactor

__all__ = ["check"]

# Shapes of what changes: r components, d features; the others are numbers.
SIZES = {
    **dict.fromkeys(("_rows", "cross", "plus", "minus", "target", "slope"), "rd"),
    **dict.fromkeys(("bend", "pulls", "errors"), "d"),
    **dict.fromkeys(("total", "idle", "energy"), "r"),
    "gram": "rr",
}
KINDS = ((Rows, Loadings, Hulls), (Aggregates, Majorants, Subgradient), (Usage,))


def check(model: Any, learned: dict[str, Any]) -> None:
    """Refuse a model whose learned parts do not fit together.

    Parameters
    ----------
    model : estimator of atomstream
    learned : dict
        Those of its parts that were in the file.

    Raises
    ------
    ValueError, TypeError, AttributeError
        Where something is off.
    """
    if type(model) is OnlineConvexMF and learned and "state_" not in learned:
        check_buffer(model)
    elif learned:
        CHECKS.get(type(model), check_dictionary)(model)


def check_walk(model: RandomWalkFactorization) -> None:
    """Refuse parts of a factorization that do not fit together."""
    factor, index = model.factor_, model.index_
    if type(factor) is not HebbianFactor or type(index) is not StateIndex:
        raise ValueError("parts of other kinds")
    if not (isinstance(index.names, list) or (isinstance(index.names, int) and index.names > 0)):
        raise ValueError("names that are none")
    (rows, r), m = factor.Q.shape, len(index)
    shapes = {"Q": (rows, r), "P": (rows, r), "numbers": (4,)} | dict.fromkeys(
        ("S", "inverse", "C", "energy"), (r, r)
    )
    good = all(
        part.shape == shapes[name] and part.dtype == np.float64 and np.isfinite(part).all()
        for name, part in ((name, getattr(factor, name)) for name in shapes)
    )
    numbers = factor.numbers
    good &= (
        bool((numbers >= 0).all())
        and numbers[0] < 2**53
        and numbers[0] == int(numbers[0]) < model._look
    )
    good &= isinstance(index.names, int) or len(set(index.names)) == m
    good &= bool(
        np.isfinite(model.visits_).all() and (model.visits_ >= 0).all() and model.visits_.sum() > 0
    )
    good &= (model.last_ == -1) == (model.n_visits_ == 0) and factor.since < 2**53
    counts = (factor.since, factor.n_reorthonormalized, model.n_visits_, model._look)
    good &= all(isinstance(count, int) and count >= 0 for count in counts)
    good &= (
        rows % 2 == 0
        and rows // 2 >= m
        and model.visits_.shape == (2, m)
        and model.visits_.dtype == np.float64
    )
    good &= (
        isinstance(model.last_, int) and -1 <= model.last_ < m and isinstance(model.change_, float)
    )
    basis, labels = model._basis, getattr(model, "partition_", None)
    good &= basis is None or (
        basis.ndim == 2
        and basis.shape[1] == r
        and basis.shape[0] <= rows
        and basis.shape[0] % 2 == 0
    )
    good &= basis is None or (basis.dtype == np.float64 and bool(np.isfinite(basis).all()))
    good &= labels is None or (
        labels.shape == (m,) and labels.dtype.kind == "i" and bool((labels >= -1).all())
    )
    if not good:
        raise ValueError("factors, visits or counters that do not fit together")


def check_network(model: NetworkDictionary) -> None:
    """Refuse parts of a network dictionary that do not fit together."""
    motif, learner, position = model.motif_, model.learner_, model.position_
    if not (
        type(motif) is Motif
        and type(learner) is OnlineNMF
        and isinstance(model._rng, np.random.Generator)
    ):
        raise ValueError("parts of other kinds")
    if hasattr(learner, "state_") and learner.n_features_in_ != motif.size**2:
        raise ValueError(
            f"patches of {learner.n_features_in_} entries for a motif of {motif.size} nodes"
        )
    if position is not None and (np.shape(position) != (motif.size,) or position.dtype != np.int64):
        raise ValueError(
            f"a position of shape {np.shape(position)} for a motif of {motif.size} nodes"
        )
    if not (
        np.ndim(model._totals) == 2
        and model._totals.shape[1] == learner.n_components
        and model._totals.dtype == np.float64
        and isinstance(model._spacing, int)
        and model._spacing > 0
    ):
        raise ValueError("usage of another shape or spacing")


def check_topics(model: TopicModel) -> None:
    """Refuse parts of a topic model that do not fit together."""
    learner, words = model.learner_, model.vocabulary_
    if type(learner) is not OnlineNMF or type(words) is not vocabulary.Vocabulary:
        raise ValueError("parts of other kinds")
    n_features = getattr(learner, "n_features_in_", None)
    known = (
        words.n_features
        if words.kind == "hashing"
        else len(words.names if words.names is not None else ())
    )
    if n_features not in (None, known):
        raise ValueError(f"{known} words for {n_features} features")
    for part, kind in ((words.names, "O"), (words.weights, "f")):
        if part is not None and (part.shape != (known,) or part.dtype.kind != kind):
            raise ValueError(f"words of shape {part.shape} where ({known},) is needed")
    if words.kind == "tfidf" and words.names is not None and words.weights is None:
        raise ValueError("words without their factors")


def check_video(model: VideoDictionary) -> None:
    """Refuse parts of a video's dictionary that do not fit together."""
    learner, shape, times = model.learner_, model.frame_shape_, model._kept_times
    if type(learner) is not OnlineNMF or len(shape) not in (2, 3):
        raise ValueError("parts of other kinds")
    if not all(isinstance(number, int) and number > 0 for number in (*shape, *times)):
        raise ValueError(f"frames of shape {shape}, kept at {times}")
    n_features = learner.n_features_in_
    if model.mode == "frames" and int(np.prod(shape)) != n_features:
        raise ValueError(f"frames of shape {shape} for atoms of {n_features} features")
    kept = (learner.n_components, n_features)
    if len(times) != len(model._kept) or any(part.shape != kept for part in model._kept):
        raise ValueError(f"{len(times)} snapshots of other shapes than {kept}")


def check_series(model: SeriesDictionary) -> None:
    """Refuse parts of a dictionary of series that do not fit together."""
    rows, steps, learner, first = (
        model._rows,
        model._steps,
        getattr(model, "learner_", None),
        getattr(model, "initial_atoms_", None),
    )
    form, shape = model.form_, (model.n_components, model.window, rows.shape[1])
    counts = (model._n_rows, model._first_honest, model._seed)
    good = (
        type(form) is Form and isinstance(form.times, Times | None) and rows.ndim == steps.ndim == 2
    )
    good &= form.times is None or len(form.times.at(1, 1)) == 1
    good &= form.names is None or len(form.names) == rows.shape[1]
    good &= rows.dtype == steps.dtype == np.float64 and rows.shape[1] == steps.shape[1]
    good &= len(steps) <= len(rows) and not (rows < 0).any()
    good &= model._seen.dtype == np.bool_ and model._seen.shape == rows.shape[1:]
    good &= (
        all(isinstance(count, int) and count >= 0 for count in counts)
        and len(rows) <= model._n_rows
    )
    if learner is not None:
        good &= type(learner) is OnlineNMF and (first is None or first.shape == shape)
        good &= not hasattr(learner, "state_") or learner.components_.shape == (
            shape[0],
            shape[1] * shape[2],
        )
    if not good:
        raise ValueError("rows, predictions or atoms that do not fit together")


def check_pictures(model: ImageDictionary) -> None:
    """Refuse parts of an image dictionary that do not fit together."""
    learner, shape = model.learner_, model.patch_shape_
    kind = OnlineNMF if model.nonnegative else OnlineDictionaryLearning
    if type(learner) is not kind or not isinstance(model._rng, np.random.Generator):
        raise ValueError("parts of other kinds")
    whole = (
        isinstance(shape, tuple)
        and all(type(n) is int and n > 0 for n in shape)
        and len(shape) in (2, 3)
    )
    if not whole or shape[:2] != (model.patch_size, model.patch_size):
        raise ValueError(f"patches of shape {shape!r:.80} where the size is {model.patch_size!r}")
    if hasattr(learner, "state_") and learner.n_features_in_ != np.prod(shape):
        raise ValueError(f"patches of {learner.n_features_in_} entries for the shape {shape}")


def check_colors(model: ColorRestorer) -> None:
    """Refuse parts of a colour restorer that do not fit together."""
    classifier, dictionaries, size = model.classifier_, model.dictionaries_, model.patch_size
    if (
        type(classifier) is not PatchClassifier
        or not isinstance(dictionaries, dict)
        or len(dictionaries) < 2
    ):
        raise ValueError("parts of other kinds")
    for part in dictionaries.values():
        if type(part) is not ImageDictionary or len(part.components_) != model.n_components:
            raise ValueError("dictionaries of another kind or size")
        if part.patch_shape_ != (size, size, 3):
            raise ValueError(f"patches of shape {part.patch_shape_} where the size is {size!r}")
    n_in = size * (size // 2 + 1)
    good = classifier.size == size and classifier.mean.shape == classifier.scale.shape == (n_in,)
    good &= len(classifier.weights) == len(classifier.biases) > 0 and bool(
        (classifier.scale > 0).all()
    )
    for weights, biases in zip(classifier.weights, classifier.biases, strict=True):
        good &= (
            weights.shape == (n_in, len(biases)) and weights.dtype.kind == biases.dtype.kind == "f"
        )
        n_in = len(biases)
    if not good or n_in != len(dictionaries):
        raise ValueError("layers of a classifier that do not fit together")


def check_dictionary(model: Any) -> None:
    """Refuse parts of a dictionary that do not fit together."""
    state, clock = model.state_, model.clock_
    if any(
        type(part) not in kinds
        for part, kinds in zip((state.dictionary, state.memory, state.usage), KINDS, strict=True)
    ):
        raise ValueError(f"a state of {[type(part).__name__ for part in vars(state).values()]}")
    if isinstance(model, OnlineCPDictionary):
        check_loadings(model)
    elif isinstance(model, OnlineConvexMF):
        check_hulls(model)
    sizes = {"r": state.dictionary.shape[0], "d": model.n_features_in_}
    for part in (state.dictionary, state.memory, state.usage):
        for name in CHANGING[type(part)]:
            if type(part) in (Loadings, Hulls):
                continue  # looked at above
            value = getattr(part, name)
            if isinstance(value, Product):
                _check_product(value)
                value = np.broadcast_to(0.0, value.shape)
            shape = tuple(sizes[letter] for letter in SIZES.get(name, ""))
            fits = _are_exponents(value) if name == "exponents" else np.shape(value) == shape
            if not fits or np.asarray(value).dtype.kind != "f":
                raise ValueError(f"{name} of shape {np.shape(value)} where {shape} is needed")
    known = (
        clock.step >= 0 and clock.n_samples >= 0 and clock.mass >= 0,
        isinstance(model._rng, np.random.Generator) and isinstance(model.n_reseeded_, int),
        isinstance(model.batch_objective_, float),
    )
    if not all(known):
        raise ValueError("a clock or counters that make no sense")


def check_loadings(model: OnlineCPDictionary) -> None:
    """Refuse loadings, axes and a radius that do not fit together."""
    axes, dictionary = model.axes_, model.state_.dictionary
    if type(axes) is not Axes or type(dictionary) is not Loadings:
        raise ValueError("parts of other kinds")
    matrices, r = dictionary.matrices, dictionary.shape[0]
    named = (
        axes.names is None
        or axes.labels is None
        or (
            len(axes.names) == len(axes.shape) == len(axes.labels)
            and all(
                label is None or np.shape(label) == (n,)
                for label, n in zip(axes.labels, axes.shape, strict=True)
            )
        )
    )
    good = (
        sorted(axes.order) == list(range(len(axes.shape)))
        and all(isinstance(size, int) and size > 0 for size in axes.shape)
        and [matrix.shape for matrix in matrices] == [(size, r) for size in axes.sizes]
        and len({matrix.dtype for matrix in matrices}) == 1
        and matrices[0].dtype.kind == "f"
        and dictionary.shape[1] == model.n_features_in_
        and named
        and isinstance(model.norm_, float)
        and model.norm_ > 0
    )
    if not good:
        raise ValueError("loadings, axes or bounds that do not fit together")


def check_hulls(model: OnlineConvexMF) -> None:
    """Refuse representatives and weights that do not fit together."""
    hulls = model.state_.dictionary
    if type(hulls) is not Hulls or model._buffer:
        raise ValueError("parts of other kinds")
    (r, n), sizes = hulls.weights.shape, hulls.sizes
    inside = np.zeros((r, n), bool)
    for atom in range(r):
        inside[atom, hulls.region(atom)] = True
    good = (
        hulls.samples.shape == (n, model.n_features_in_)
        and np.isfinite(hulls.samples.data if sp.issparse(hulls.samples) else hulls.samples).all()
        and hulls.dtype.kind == "f"
        and hulls.weights.dtype == np.float64
        and bool((hulls.weights >= 0).all() and (hulls.weights[~inside] == 0).all())
        and bool(np.allclose(hulls.weights.sum(axis=1), 1))
        and hulls.indices.shape == hulls.ids.shape == (n,)
        and isinstance(hulls.n_swaps, int)
        and isinstance(hulls.begun, int)
        and (sizes is None or (sizes.shape == (r,) and sizes.sum() == n and (sizes > 0).all()))
        and (model.assignment != "labels" or np.shape(model.classes_) == (r,))
    )
    if not good:
        raise ValueError("representatives or weights that do not fit together")


def check_buffer(model: OnlineConvexMF) -> None:
    """Refuse kept rows that are none, and a clock that has moved without atoms."""
    clock, kept = model.clock_, model._buffer
    good = (
        isinstance(kept, list) and clock.step == 0 and isinstance(model._rng, np.random.Generator)
    )
    for batch in kept:
        n, d = batch.X.shape
        parts = [part for part in (batch.weights, batch.ids, batch.labels) if part is not None]
        good &= type(batch) is Batch and d == model.n_features_in_ and batch.mask is None
        good &= all(np.shape(part) == (n,) for part in parts) and batch.X.dtype.kind == "f"
    if not good:
        raise ValueError("kept rows that do not fit together")


def _check_product(product: Product) -> None:
    """Refuse two matrices that have no product."""
    left, right = product.left, product.right
    if (
        left.ndim != 2
        or right.ndim != 2
        or len(left) != len(right)
        or {left.dtype.kind, right.dtype.kind} != {"f"}
    ):
        raise ValueError(f"a product of shapes {left.shape} and {right.shape}")


def _are_exponents(value: Any) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and bool(np.isfinite(value).all() and value[0] > value[1])
    )


CHECKS: dict[type, Callable[[Any], None]] = {
    ColorRestorer: check_colors,
    ImageDictionary: check_pictures,
    NetworkDictionary: check_network,
    RandomWalkFactorization: check_walk,
    SeriesDictionary: check_series,
    TopicModel: check_topics,
    VideoDictionary: check_video,
}
