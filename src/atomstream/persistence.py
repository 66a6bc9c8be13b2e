"""Models as files: what a model is, told in JSON and arrays, and told back from names that are known here.

A file says which of the classes listed here it means; no class is looked up by a name from a file anywhere else, and
parts are made by their constructors, which refuse settings out of range.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import atomstream
from atomstream import coders, losses, penalties, schedules, tolerances, updates
from atomstream.applications.patch_classes import PatchClassifier
from atomstream.applications.pictures import ImageDictionary
from atomstream.applications.restoring import ColorRestorer
from atomstream.archive import read_archive, write_archive
from atomstream.dictionaries import Rows
from atomstream.exceptions import CorruptModelError
from atomstream.hebbian import HebbianFactor
from atomstream.memory import MAJORANT_SUMS, Aggregates, Majorants, Subgradient, Usage
from atomstream.models.matrix import OnlineDictionaryLearning, OnlineNMF
from atomstream.models.network import NetworkDictionary
from atomstream.models.states import StateIndex
from atomstream.models.walk import RandomWalkFactorization
from atomstream.samplers import Motif, motifs
from atomstream.state import Clock, State

__all__ = ["load", "read_model", "save", "write_model"]

MODELS = {
    model.__name__: model
    for model in (
        ColorRestorer,
        ImageDictionary,
        NetworkDictionary,
        OnlineDictionaryLearning,
        OnlineNMF,
        RandomWalkFactorization,
    )
}
# Parts are frozen dataclasses: their fields are all there is.
PARTS = {
    name: part
    for module in (coders, losses, motifs, penalties, schedules, tolerances, updates)
    for name in module.__all__
    if is_dataclass(part := getattr(module, name)) and isinstance(part, type)
}
# What changes while learning: the attributes that make it up.
CHANGING: dict[type, tuple[str, ...]] = {
    State: ("dictionary", "memory", "usage"),
    Rows: ("_rows",),
    Aggregates: ("gram", "cross", "constant"),
    Majorants: ("exponents", *MAJORANT_SUMS),
    Subgradient: ("slope", "pulls", "errors", "energy", "constant"),
    Usage: ("total", "idle"),
    Clock: tuple(field.name for field in fields(Clock)),
    HebbianFactor: HebbianFactor.PARTS,
    PatchClassifier: PatchClassifier.PARTS,
    StateIndex: ("names",),
}
# Shapes of what changes: r components, d features; the others are numbers.
SIZES = {
    **dict.fromkeys(("_rows", "cross", "plus", "minus", "target", "slope"), "rd"),
    **dict.fromkeys(("bend", "pulls", "errors"), "d"),
    **dict.fromkeys(("total", "idle", "energy"), "r"),
    "gram": "rr",
}
KINDS = ((Rows,), (Aggregates, Majorants, Subgradient), (Usage,))
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
}
BIT_GENERATORS = {
    source.__name__: source
    for source in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
}


def save(model: Any, path: str | Path) -> None:
    """Write a model, fitted or not, to one file from which `load` brings it back to the bit.

    The file is there whole or not at all. Callbacks are not part of it.

    Parameters
    ----------
    model : estimator of atomstream
    path : path
        By custom ``*.atoms``.

    Raises
    ------
    TypeError
        Where a setting is not of this library (a function of your own as schedule): it could not be told in a file.
    OSError
        Where the disk refuses; an older file of that name is then as it was.

    Examples
    --------
    >>> import atomstream, tempfile, os
    >>> model = atomstream.OnlineNMF(2, random_state=0).fit([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atomstream.save(model, os.path.join(folder, "model.atoms"))
    ...     again = atomstream.load(os.path.join(folder, "model.atoms"))
    >>> bool((again.components_ == model.components_).all())
    True
    """
    write_model(path, model, {})


def load(path: str | Path) -> Any:
    """Return the model that `save` wrote: it codes, and goes on learning, as the saved one would have, to the bit.

    Parameters
    ----------
    path : path
        Of a file, or of a run.

    Raises
    ------
    NotAModelError, NewerFormatError, CorruptModelError
        Kinds of `ModelFileError`: for files of another kind, of a later format, and damaged or senseless ones.
    """
    return read_model(path)[0]


def write_model(path: str | Path, model: Any, notes: dict[str, Any]) -> None:
    """Write a model together with notes: a dict of numbers, texts, lists and arrays."""
    name = type(model).__name__
    if MODELS.get(name) is not type(model):
        raise TypeError(f"A {type(model).__name__} cannot be saved; save one of {', '.join(sorted(MODELS))}.")
    writer = _Writer()
    content = {"library": atomstream.__version__, **writer.model(model), "notes": writer.fields(notes)}
    write_archive(path, content | {"generators": writer.states}, writer.arrays)


def read_model(path: str | Path) -> tuple[Any, dict[str, Any]]:
    """Return a model and the notes that were written with it; of a run, its newest."""
    path = Path(path) / "model.atoms" if Path(path).is_dir() else path
    content, arrays = read_archive(path)
    try:
        reader = _Reader(arrays, content["generators"])
        return reader.model(content), reader.fields(content["notes"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        raise CorruptModelError(f"{path} holds no model that makes sense: {error!r:.200}.") from None


def _check_walk(model: RandomWalkFactorization) -> None:
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
    good &= bool((numbers >= 0).all()) and numbers[0] < 2**53 and numbers[0] == int(numbers[0]) < model._look
    good &= isinstance(index.names, int) or len(set(index.names)) == m
    good &= bool(np.isfinite(model.visits_).all() and (model.visits_ >= 0).all() and model.visits_.sum() > 0)
    good &= (model.last_ == -1) == (model.n_visits_ == 0) and factor.since < 2**53
    counts = (factor.since, factor.n_reorthonormalized, model.n_visits_, model._look)
    good &= all(isinstance(count, int) and count >= 0 for count in counts)
    good &= rows % 2 == 0 and rows // 2 >= m and model.visits_.shape == (2, m) and model.visits_.dtype == np.float64
    good &= isinstance(model.last_, int) and -1 <= model.last_ < m and isinstance(model.change_, float)
    basis, labels = model._basis, getattr(model, "partition_", None)
    good &= basis is None or (
        basis.ndim == 2 and basis.shape[1] == r and basis.shape[0] <= rows and basis.shape[0] % 2 == 0
    )
    good &= basis is None or (basis.dtype == np.float64 and bool(np.isfinite(basis).all()))
    good &= labels is None or (labels.shape == (m,) and labels.dtype.kind == "i" and bool((labels >= -1).all()))
    if not good:
        raise ValueError("factors, visits or counters that do not fit together")


def _check_network(model: NetworkDictionary) -> None:
    """Refuse parts of a network dictionary that do not fit together."""
    motif, learner, position = model.motif_, model.learner_, model.position_
    if not (type(motif) is Motif and type(learner) is OnlineNMF and isinstance(model._rng, np.random.Generator)):
        raise ValueError("parts of other kinds")
    if hasattr(learner, "state_") and learner.n_features_in_ != motif.size**2:
        raise ValueError(f"patches of {learner.n_features_in_} entries for a motif of {motif.size} nodes")
    if position is not None and (np.shape(position) != (motif.size,) or position.dtype != np.int64):
        raise ValueError(f"a position of shape {np.shape(position)} for a motif of {motif.size} nodes")
    if not (
        np.ndim(model._totals) == 2
        and model._totals.shape[1] == learner.n_components
        and model._totals.dtype == np.float64
        and isinstance(model._spacing, int)
        and model._spacing > 0
    ):
        raise ValueError("usage of another shape or spacing")


def _check_pictures(model: ImageDictionary) -> None:
    """Refuse parts of an image dictionary that do not fit together."""
    learner, shape = model.learner_, model.patch_shape_
    kind = OnlineNMF if model.nonnegative else OnlineDictionaryLearning
    if type(learner) is not kind or not isinstance(model._rng, np.random.Generator):
        raise ValueError("parts of other kinds")
    whole = isinstance(shape, tuple) and all(type(n) is int and n > 0 for n in shape) and len(shape) in (2, 3)
    if not whole or shape[:2] != (model.patch_size, model.patch_size):
        raise ValueError(f"patches of shape {shape!r:.80} where the size is {model.patch_size!r}")
    if hasattr(learner, "state_") and learner.n_features_in_ != np.prod(shape):
        raise ValueError(f"patches of {learner.n_features_in_} entries for the shape {shape}")


def _check_colors(model: ColorRestorer) -> None:
    """Refuse parts of a colour restorer that do not fit together."""
    classifier, dictionaries, size = model.classifier_, model.dictionaries_, model.patch_size
    if type(classifier) is not PatchClassifier or not isinstance(dictionaries, dict) or len(dictionaries) < 2:
        raise ValueError("parts of other kinds")
    for part in dictionaries.values():
        if type(part) is not ImageDictionary or len(part.components_) != model.n_components:
            raise ValueError("dictionaries of another kind or size")
        if part.patch_shape_ != (size, size, 3):
            raise ValueError(f"patches of shape {part.patch_shape_} where the size is {size!r}")
    n_in = size * (size // 2 + 1)
    good = classifier.size == size and classifier.mean.shape == classifier.scale.shape == (n_in,)
    good &= len(classifier.weights) == len(classifier.biases) > 0 and bool((classifier.scale > 0).all())
    for weights, biases in zip(classifier.weights, classifier.biases, strict=True):
        good &= weights.shape == (n_in, len(biases)) and weights.dtype.kind == biases.dtype.kind == "f"
        n_in = len(biases)
    if not good or n_in != len(dictionaries):
        raise ValueError("layers of a classifier that do not fit together")


def _check_dictionary(model: Any) -> None:
    """Refuse parts of a dictionary that do not fit together."""
    state, clock = model.state_, model.clock_
    if any(
        type(part) not in kinds
        for part, kinds in zip((state.dictionary, state.memory, state.usage), KINDS, strict=True)
    ):
        raise ValueError(f"a state of {[type(part).__name__ for part in vars(state).values()]}")
    sizes = {"r": state.dictionary.atoms().shape[0], "d": model.n_features_in_}
    for part in (state.dictionary, state.memory, state.usage):
        for name in CHANGING[type(part)]:
            value = getattr(part, name)
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


def _are_exponents(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and bool(np.isfinite(value).all() and value[0] > value[1])


def _check_source(bits: str, state: dict[str, Any]) -> None:
    """Refuse a place in a buffer of random numbers that lies outside of it: NumPy would read there."""
    places = {"MT19937": (state["state"].get("pos"), 624), "Philox": (state.get("buffer_pos"), 4)}
    place, end = places.get(bits, (0, 0))
    if type(place) is not int or not 0 <= place <= end:
        raise ValueError(f"a {bits} at place {place!r} of {end}")


class _Writer:
    """Tells values in JSON; arrays and sources of randomness are put aside, each source once."""

    def __init__(self) -> None:
        self.arrays: list[NDArray] = []
        self.states: list[Any] = []
        self._sources: list[Any] = []

    def fields(self, values: dict[str, Any]) -> dict[str, Any]:
        """Tell every value of a dict, naming the one that cannot be told."""
        told = {}
        for name, value in values.items():
            try:
                told[name] = self.tell(value)
            except TypeError as error:
                raise TypeError(f"{name}={value!r:.80} cannot be saved: {error}") from None
        return told

    def tell(self, value: Any) -> Any:
        """Return what stands for the value in JSON."""
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if np.isfinite(value) else {"float": str(value)}
        if isinstance(value, list | tuple):
            return {"list" if isinstance(value, list) else "tuple": [self.tell(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": self.fields(value)}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return {"source": self._source(value)}
        if MODELS.get(type(value).__name__) is type(value):
            return self.model(value)
        return self._object(value)

    def model(self, model: Any) -> dict[str, Any]:
        """Return what stands for a model: its name, its parameters, what it has learned."""
        learned = {key: model.__dict__[key] for key in LEARNED[type(model)] if key in model.__dict__}
        return {
            "model": type(model).__name__,
            "parameters": self.fields(model.get_params(deep=False)),
            "learned": self.fields(learned),
        }

    def _array(self, value: NDArray) -> Any:
        if value.dtype.kind in "OU":
            if not all(isinstance(item, str) for item in value.flat) or value.ndim != 1:
                raise TypeError("of objects only lists of texts can be.")
            self.arrays.append(np.frombuffer(json.dumps(list(value)).encode(), np.uint8))
            return {"texts": len(self.arrays) - 1}
        self.arrays.append(value)
        return {"array": len(self.arrays) - 1}

    def _source(self, value: Any) -> int:
        for number, source in enumerate(self._sources):
            if source is value:
                return number
        kind = type(value).__name__
        bits = value.bit_generator if kind == "Generator" else value._bit_generator
        if type(bits).__name__ not in BIT_GENERATORS:
            raise TypeError(f"a {type(bits).__name__} is none of {', '.join(BIT_GENERATORS)}.")
        self._sources.append(value)
        self.states.append(None)
        state = bits.state if kind == "Generator" else value.get_state(legacy=False)
        number = len(self._sources) - 1
        self.states[number] = {"kind": kind, "bits": type(bits).__name__, "state": self.tell(state)}
        return number

    def _object(self, value: Any) -> Any:
        name, kind = type(value).__name__, type(value)
        if PARTS.get(name) is kind:
            return {"part": name, "fields": self.fields({f.name: getattr(value, f.name) for f in fields(value)})}
        if kind in CHANGING:
            return {"changing": name, "fields": self.fields({key: getattr(value, key) for key in CHANGING[kind]})}
        raise TypeError(f"a {name} is no part of atomstream; use one of its parts.")


class _Reader:
    """Makes values from what `_Writer` told."""

    def __init__(self, arrays: list[NDArray], states: list[Any]) -> None:
        self._arrays = arrays
        self._states = states
        self._sources: dict[int, Any] = {}
        self._known_texts: dict[int, NDArray] = {}

    def fields(self, told: dict[str, Any]) -> dict[str, Any]:
        """Make every value of a dict."""
        return {name: self.make(value) for name, value in told.items()}

    def make(self, told: Any) -> Any:
        """Return the value that JSON stands for."""
        if not isinstance(told, dict):
            return told
        kind = next(iter(told), "")
        makers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "float": lambda told: float(told["float"]),
            "list": lambda told: [self.make(item) for item in told["list"]],
            "tuple": lambda told: tuple(self.make(item) for item in told["tuple"]),
            "dict": lambda told: self.fields(told["dict"]),
            "array": lambda told: self._arrays[told["array"]],
            "texts": lambda told: self._texts(told["texts"]),
            "source": lambda told: self._source(told["source"]),
            "part": lambda told: PARTS[told["part"]](**self.fields(told["fields"])),
            "changing": self._changing,
            "model": self.model,
        }
        return makers[kind](told)

    def model(self, told: dict[str, Any]) -> Any:
        """Return a model from its name, its parameters and what it has learned."""
        kind = MODELS[told["model"]]
        model, learned = kind(**self.fields(told["parameters"])), self.fields(told["learned"])
        model.__dict__.update({key: learned[key] for key in LEARNED[kind] if key in learned})
        if learned and kind is NetworkDictionary:
            _check_network(model)
        elif learned and kind is ColorRestorer:
            _check_colors(model)
        elif learned and kind is ImageDictionary:
            _check_pictures(model)
        elif learned and kind is RandomWalkFactorization:
            _check_walk(model)
        elif learned:
            _check_dictionary(model)
        return model

    def _texts(self, number: int) -> NDArray:
        if number not in self._known_texts:  # once, however often it is referred to
            texts = json.loads(self._arrays[number].tobytes())
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise ValueError(f"array {number} is no list of texts")
            self._known_texts[number] = np.array(texts, dtype=object)
        return self._known_texts[number]

    def _source(self, number: int) -> Any:
        if number not in self._sources:
            told = self._states[number]
            state = self.make(told["state"])
            _check_source(told["bits"], state)
            bits = BIT_GENERATORS[told["bits"]]()
            if told["kind"] == "Generator":
                source: Any = np.random.Generator(bits)
                source.bit_generator.state = state
            else:
                source = np.random.RandomState(bits)
                source.set_state(state)
            self._sources[number] = source
        return self._sources[number]

    def _changing(self, told: dict[str, Any]) -> Any:
        kind = NAMED_CHANGING[told["changing"]]
        values = self.fields(told["fields"])
        if set(values) != set(CHANGING[kind]):
            raise ValueError(f"a {told['changing']} of {sorted(values)}")
        made: Any = object.__new__(kind)
        vars(made).update(values)
        return made
