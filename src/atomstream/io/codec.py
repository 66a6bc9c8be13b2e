"""Models as files: what a model is, told in JSON and arrays, and told back from names that are known here.

A file says which of the classes listed here it means; no class is looked up by a name from a file
anywhere else, and parts are made by their constructors, which refuse settings out of range.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import atomstream
from atomstream.exceptions import CorruptModelError
from atomstream.io.archive import read_archive, write_archive
from atomstream.io.registry import CHANGING, LEARNED, MODELS, NAMED_CHANGING, PARTS
from atomstream.io.sanity import check

__all__ = ["load", "read_model", "save", "write_model"]

BIT_GENERATORS = {
    source.__name__: source
    for source in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
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
        Where a setting is not of this library (a function of your own as schedule): it could not be
        told in a file.
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
        Kinds of `ModelFileError`: for files of another kind, of a later format, and damaged or
        senseless ones.
    """
    return read_model(path)[0]


def write_model(path: str | Path, model: Any, notes: dict[str, Any]) -> None:
    """Write a model together with notes: a dict of numbers, texts, lists and arrays."""
    name = type(model).__name__
    if MODELS.get(name) is not type(model):
        raise TypeError(
            f"A {type(model).__name__} cannot be saved; save one of {', '.join(sorted(MODELS))}."
        )
    writer = _Writer()
    content = {
        "library": atomstream.__version__,
        **writer.model(model),
        "notes": writer.fields(notes),
    }
    write_archive(path, content | {"generators": writer.states}, writer.arrays)


def read_model(path: str | Path) -> tuple[Any, dict[str, Any]]:
    """Return a model and the notes that were written with it; of a run, its newest."""
    path = Path(path) / "model.atoms" if Path(path).is_dir() else path
    content, arrays = read_archive(path)
    try:
        reader = _Reader(arrays, content["generators"])
        return reader.model(content), reader.fields(content["notes"])
    except (
        KeyError,
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise CorruptModelError(
            f"{path} holds no model that makes sense: {error!r:.200}."
        ) from None


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
            return {
                "list" if isinstance(value, list) else "tuple": [self.tell(item) for item in value]
            }
        if isinstance(value, dict):
            return {"dict": self.fields(value)}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, sp.csr_array):
            return {
                "csr": [self._array(part) for part in (value.data, value.indices, value.indptr)],
                "shape": [*value.shape],
            }
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return {"source": self._source(value)}
        if MODELS.get(type(value).__name__) is type(value):
            return self.model(value)
        return self._object(value)

    def model(self, model: Any) -> dict[str, Any]:
        """Return what stands for a model: its name, its parameters, what it has learned."""
        learned = {
            key: model.__dict__[key] for key in LEARNED[type(model)] if key in model.__dict__
        }
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
            return {
                "part": name,
                "fields": self.fields({f.name: getattr(value, f.name) for f in fields(value)}),
            }
        if kind in CHANGING:
            return {
                "changing": name,
                "fields": self.fields({key: getattr(value, key) for key in CHANGING[kind]}),
            }
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
            "csr": self._csr,
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
        check(model, learned)
        return model

    def _csr(self, told: dict[str, Any]) -> sp.csr_array:
        matrix = sp.csr_array(
            tuple(self.make(part) for part in told["csr"]), shape=tuple(told["shape"])
        )
        matrix.check_format(full_check=True)
        return matrix

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
