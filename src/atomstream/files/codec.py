"""Models as files: values encoded in JSON and arrays, and decoded into classes that are known here.

A class comes from the fixed tables of `atomstream.files.registry`, or from the caller; parts are
made by their constructors, which refuse settings out of range; what was learned is checked by its
declared fields (`atomstream.base.saved_fields`).
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import atomstream
from atomstream.base import checked_numbers
from atomstream.base.registered import name_of, registered
from atomstream.base.saved_fields import field_names
from atomstream.exceptions import CorruptModelError, ModelFileError
from atomstream.files.archive import read_archive, write_archive
from atomstream.files.registry import model_class, models, part_class, tag_of, value_class

ModelT = TypeVar("ModelT")

# What decoding raises where a file holds no model.
SENSELESS = LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError
BIT_GENERATORS = {
    name: getattr(np.random, name) for name in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
}


def save(model: BaseEstimator, path: str | Path) -> None:
    """Write a model, fitted or not, to one file from which `load` brings it back to the bit.

    The file is written completely or not at all. Callbacks are not saved.

    Parameters
    ----------
    model : estimator of atomstream
        Parts of your own (a loss, a schedule) are saved by their class's name and their fields: of
        a dataclass all, of another class the attributes that its ``SAVED`` lists. A part that is
        registered (`atomstream.register`) is found again by the name it is registered by.
    path : path
        By custom ``*.atoms``.

    Raises
    ------
    TypeError
        Where a setting has no fields (a function as schedule).
    OSError
        If the file cannot be written; an older file of that name stays as it was.

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


@overload
def load(path: str | Path, parts: Iterable[type] = ..., *, kind: type[ModelT]) -> ModelT: ...


@overload
def load(path: str | Path, parts: Iterable[type] = ..., *, kind: None = ...) -> Any: ...


def load(
    path: str | Path, parts: Iterable[type] = (), *, kind: type[ModelT] | None = None
) -> ModelT | Any:
    """Return the model that `save` wrote: it codes and continues to learn like it, to the bit.

    Parameters
    ----------
    path : path
        Of a file, or of a run.
    parts : iterable of type, default=()
        Classes of your own whose instances the model holds. Besides these and the library's, a
        file can name only classes that are registered: by `atomstream.register`, or by an
        installed package's entry point in the group ``atomstream.parts``.
    kind : type, optional
        Class of the model that is expected, `OnlineNMF`: type checkers know it then, and a file
        with another model is refused.

    Raises
    ------
    NotAModelError, NewerFormatError, CorruptModelError
        Kinds of `ModelFileError`: for files of another kind, of another format, and damaged or
        inconsistent ones.
    ModelFileError
        Where a class of your own is missing from ``parts`` and not registered, and for models of
        another ``kind``.

    Examples
    --------
    >>> import atomstream, tempfile
    >>> path = tempfile.mkdtemp() + "/model.atoms"
    >>> atomstream.save(atomstream.OnlineNMF.from_components([[1.0, 0.0], [0.0, 1.0]]), path)
    >>> atomstream.load(path, kind=atomstream.OnlineNMF).transform([[3.0, 2.0]]).tolist()
    [[3.0, 2.0]]
    """
    model = read_model(path, parts)[0]
    if kind is not None and not isinstance(model, kind):
        raise ModelFileError(
            f"{path} holds a model of {type(model).__name__}, not of {kind.__name__}."
        )
    return model


def write_model(path: str | Path, model: BaseEstimator, notes: dict[str, Any]) -> None:
    """Write a model together with notes: a dict of numbers, texts, lists and arrays."""
    if tag_of(model) != "model":
        raise TypeError(
            f"A {type(model).__name__} cannot be saved; save one of {', '.join(sorted(models()))}."
        )
    encoder = Encoder()
    content = {"library": atomstream.__version__, **encoder.model(model)}
    content |= {"notes": encoder.fields(notes), "generators": encoder.states}
    write_archive(path, content, encoder.arrays)


def read_model(path: str | Path, parts: Iterable[type] = ()) -> tuple[Any, dict[str, Any]]:
    """Return a model and the notes that were written with it; of a run, its newest."""
    # The folder of a run stands for its model.
    path = Path(path) / "model.atoms" if Path(path).is_dir() else path
    # Only classes that the caller names are made besides our own: a file never decides what is
    # imported.
    own = {part.__name__: part for part in parts}
    try:
        content, arrays = read_archive(path)
        decoder = Decoder(arrays, content["generators"], own)
        return decoder.model(content), decoder.fields(content["notes"])
    # A sentence already; the path is added.
    except ModelFileError as error:
        raise type(error)(f"{path} {error}") from None
    except SENSELESS as error:
        raise CorruptModelError(
            f"{path} holds no model that makes sense: {error!r:.200}."
        ) from None


def _added(kind: Any) -> set[str]:
    """Return the optional fields of a value that its class has as None."""
    said = [field for field in getattr(kind, "SAVED", ()) if not isinstance(field, str)]
    return {it.name for it in said if it.optional and getattr(kind, it.name, it) is None}


def _field_names(kind: Any) -> tuple[str, ...]:
    """Return the names of what makes up an instance."""
    return field_names(getattr(kind, "SAVED", ())) or tuple(field.name for field in fields(kind))


def _check_source(bits: str, state: dict[str, Any]) -> None:
    """Refuse a place outside of the buffer of random numbers: NumPy would read there."""
    places = {"MT19937": (state["state"].get("pos"), 624), "Philox": (state.get("buffer_pos"), 4)}
    place, end = places.get(bits, (0, 0))
    if type(place) is not int or not 0 <= place <= end:
        raise ValueError(f"a {bits} at place {place!r} of {end}")


class Encoder:
    """Encodes values in JSON; arrays and sources of randomness are put aside, each source once.

    Attributes
    ----------
    arrays : list of ndarray
    states : list
        States of the sources of randomness, encoded.
    """

    def __init__(self) -> None:
        self.arrays: list[NDArray] = []
        self.states: list[Any] = []
        self._sources: list[Any] = []

    def fields(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Encode every value of a dict, naming the one that cannot be encoded."""
        encoded = {}
        for name, value in values.items():
            try:
                encoded[name] = self.encode(value)
            except TypeError as error:
                raise TypeError(f"{name}={value!r:.80} cannot be saved: {error}") from None
        return encoded

    def encode(self, value: Any) -> Any:
        """Return what stands for the value in JSON."""
        # Scalars of NumPy as Python's, which JSON knows.
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            # JSON has neither NaN nor infinity.
            return value if np.isfinite(value) else {"float": str(value)}
        if isinstance(value, list | tuple):
            # Tuples stay tuples: models compare parameters, and (3,) is not [3].
            items = [self.encode(item) for item in value]
            return {"list" if isinstance(value, list) else "tuple": items}
        if isinstance(value, dict):
            return {"dict": self.fields(value)}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, sp.csr_array):
            stored = (value.data, value.indices, value.indptr)
            return {"csr": [self._array(part) for part in stored], "shape": [*value.shape]}
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return {"source": self._source(value)}
        return self._object(value)

    def model(self, model: Any) -> dict[str, Any]:
        """Return what stands for a model: its name, its parameters, what it has learned."""
        return {
            "model": type(model).__name__,
            "parameters": self.fields(model.saved_parameters()),
            "learned": self.fields(model.learned_attributes()),
        }

    def _array(self, value: NDArray) -> Any:
        # Arrays of objects would need pickle, which runs code when it is read; texts are written as
        # JSON.
        if value.dtype.kind in "OU":
            if not all(isinstance(item, str) for item in value.flat) or value.ndim != 1:
                raise TypeError("of objects only lists of texts can be.")
            self.arrays.append(np.frombuffer(json.dumps(list(value)).encode(), np.uint8))
            return {"texts": len(self.arrays) - 1}
        self.arrays.append(value)
        return {"array": len(self.arrays) - 1}

    def _source(self, value: Any) -> int:
        # By identity: two parts that share a source draw from one stream, and still must after
        # loading.
        for number, source in enumerate(self._sources):
            if source is value:
                return number
        kind = type(value).__name__
        bits = value.bit_generator if kind == "Generator" else value._bit_generator
        if type(bits).__name__ not in BIT_GENERATORS:
            raise TypeError(f"a {type(bits).__name__} is none of {', '.join(BIT_GENERATORS)}.")
        state = bits.state if kind == "Generator" else value.get_state(legacy=False)
        encoded = {"kind": kind, "bits": type(bits).__name__, "state": self.encode(state)}
        self._sources.append(value)
        self.states.append(encoded)
        return len(self.states) - 1

    def _object(self, value: Any) -> Any:
        tag, kind = tag_of(value), type(value)
        if tag == "model":
            return self.model(value)
        if not tag:
            raise TypeError(
                f"files hold no {kind.__name__}; use a part that models take as a parameter, or a "
                "dataclass of your own."
            )
        values = {name: getattr(value, name) for name in _field_names(kind)}
        encoded: dict[str, Any] = {tag: kind.__name__, "fields": self.fields(values)}
        name = name_of(kind) if tag == "own" else None
        if name is not None:  # who offers it, so that a loader can find it, or say what is missing
            encoded |= {"name": name, "of": kind.__module__.split(".")[0]}
        return encoded


class Decoder:
    """Makes values from what `Encoder` returned.

    Parameters
    ----------
    arrays, states : list
        Those of the encoder.
    own : dict of str to type, optional
        Classes of the caller's own, by their names.
    """

    def __init__(
        self, arrays: list[NDArray], states: list[Any], own: dict[str, type] | None = None
    ) -> None:
        self._arrays = arrays
        self._states = states
        self._own = own or {}
        self._sources: dict[int, Any] = {}
        self._known_texts: dict[int, NDArray] = {}

    def fields(self, encoded: dict[str, Any]) -> dict[str, Any]:
        """Decode every value of a dict."""
        return {name: self.decode(value) for name, value in encoded.items()}

    def decode(self, encoded: Any) -> Any:
        """Return the value that JSON stands for."""
        if not isinstance(encoded, dict):
            return encoded
        # The first key says what it is; an unknown one is a KeyError, and the file makes no sense.
        kind = next(iter(encoded), "")
        decoders: dict[str, Callable[[dict[str, Any]], Any]] = {
            "float": lambda it: float(it["float"]),
            "list": lambda it: [self.decode(item) for item in it["list"]],
            "tuple": lambda it: tuple(self.decode(item) for item in it["tuple"]),
            "dict": lambda it: self.fields(it["dict"]),
            "array": lambda it: self._arrays[it["array"]],
            "texts": lambda it: self._texts(it["texts"]),
            "csr": self._csr,
            "source": lambda it: self._source(it["source"]),
            # Parts are made by their constructors, which refuse settings out of range.
            "part": lambda it: part_class(it["part"])(**self.fields(it["fields"])),
            "changing": lambda it: self._value(value_class(it["changing"]), it["fields"]),
            "own": self._object,
            "model": self.model,
        }
        return decoders[kind](encoded)

    def model(self, encoded: dict[str, Any]) -> Any:
        """Return a model from its name, its parameters and what it has learned."""
        kind = model_class(encoded["model"])
        model = kind(**self.fields(encoded["parameters"]))
        # Checks what was learned against what the class declares, before anything uses it.
        model.restore_learned(self.fields(encoded["learned"]))
        return model

    def _csr(self, encoded: dict[str, Any]) -> sp.csr_array:
        parts = tuple(self.decode(part) for part in encoded["csr"])
        # The checks of scipy let a last pointer below zero pass.
        return checked_numbers(sp.csr_array(parts, shape=tuple(encoded["shape"])))

    def _texts(self, number: int) -> NDArray:
        if number not in self._known_texts:  # once, however often it is referred to
            texts = json.loads(self._arrays[number].tobytes())
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise ValueError(f"array {number} is no list of texts")
            self._known_texts[number] = np.array(texts, dtype=object)
        return self._known_texts[number]

    def _source(self, number: int) -> Any:
        if number not in self._sources:
            encoded = self._states[number]
            state = self.decode(encoded["state"])
            _check_source(encoded["bits"], state)
            bits = BIT_GENERATORS[encoded["bits"]]()
            if encoded["kind"] == "Generator":
                source: Any = np.random.Generator(bits)
                source.bit_generator.state = state
            else:
                source = np.random.RandomState(bits)
                source.set_state(state)
            self._sources[number] = source
        return self._sources[number]

    def _object(self, encoded: dict[str, Any]) -> Any:
        """Return an instance of a class of the caller's own."""
        kind = self._class_of(encoded)
        # A class that learning changes is put together from its attributes, as ours are.
        if hasattr(kind, "SAVED"):
            return self._value(kind, encoded["fields"])
        return kind(**self.fields(encoded["fields"]))

    def _class_of(self, encoded: dict[str, Any]) -> Any:
        """Return the caller's own class, or one registered by the name in the file."""
        name, registered_as = encoded["own"], encoded.get("name")
        # What the caller gives goes before what is registered.
        if name in self._own:
            return self._own[name]
        try:
            kind = registered(registered_as) if isinstance(registered_as, str) else None
        except ValueError as error:
            raise ModelFileError(f"holds a {name!r:.80}: {error}") from None
        if kind is not None:
            return kind
        offer = f"give its class, as in load(path, parts=[{name}])"
        if isinstance(registered_as, str):
            package = encoded.get("of")
            offer = f"install {package!r:.80}, call atomstream.register({name}), or {offer}"
        raise ModelFileError(f"holds a {name!r:.80}, which is no part of atomstream: {offer}.")

    def _value(self, kind: Any, encoded: dict[str, Any]) -> Any:
        """Return a value that learning changes, made of its attributes."""
        values = self.fields(encoded)
        absent = set(_field_names(kind)) - set(values)
        # Files written before an optional field was added hold nothing of it.
        if len(values) + len(absent) != len(_field_names(kind)) or not absent <= _added(kind):
            raise ValueError(f"a {kind.__name__} of {sorted(values)}")
        # Past the constructor, which takes settings and not what was learned; the values are
        # checked by whoever holds them.
        made: Any = object.__new__(kind)
        vars(made).update(values)
        return made
