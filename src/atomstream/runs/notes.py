"""The notes of checkpoints: what a file may hold beside the model, read in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.callbacks import History
from atomstream.exceptions import (
    CorruptModelError,
    IncompatiblePartsError,
    InputError,
    ModelFileError,
)
from atomstream.files.codec import SENSELESS, read_model

__all__ = ["history_of", "making_sense", "read_checkpoint"]

MOST = 2**62


def read_checkpoint(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the model of a file and its notes, each of the kind that runs write.

    Raises
    ------
    ModelFileError
        For a file that is not a model file, and for notes of another kind; the message names one.
    """
    model, notes = read_model(path)
    for name, value in notes.items():
        if name in KINDS and not KINDS[name](value):
            raise CorruptModelError(
                f"{path} has a note that makes no sense: {name} = {value!r:.80}."
            )
    return model, notes


def history_of(notes: dict[str, Any]) -> History:
    """Return the history that notes hold, an empty one for a model without a run.

    Raises
    ------
    ValueError, KeyError, TypeError
        Where it does not fit together.
    """
    history = History()
    if "history" in notes:
        history.restore(notes["history"])
    return history


@contextmanager
def making_sense(path: Path) -> Iterator[None]:
    """Turn an error in the body into a sentence: parts of the file at ``path`` contradict others.

    Every part was checked by itself; what only shows where two are used together ends here.
    """
    try:
        yield
    except (InputError, ModelFileError, IncompatiblePartsError):
        raise
    except SENSELESS as error:
        raise CorruptModelError(f"{path} holds parts that do not fit: {error!r:.200}.") from error


def _whole(value: Any, least: int = 0) -> bool:
    return type(value) is int and least <= value <= MOST


def _number(value: Any, least: float = 0.0) -> bool:
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and bool(value >= least)  # NaN is not


def _wholes(value: Any, most: int, least: int = 0) -> bool:
    return (
        isinstance(value, list | tuple)
        and 0 < len(value) <= most
        and all(_whole(item, least) for item in value)
    )


def _texts(value: Any) -> bool:
    array = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "O"
    return array and all(isinstance(item, str) for item in value)


def _array(value: Any, kinds: str, n_axes: int, least: float = -np.inf) -> bool:
    good = isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == n_axes
    return good and not (value < least).any()


def _figures(value: Any) -> bool:
    named = isinstance(value, dict) and all(isinstance(name, str) for name in value)
    return named and all(_number(item, -np.inf) for item in value.values())


def _grid(value: Any) -> bool:
    three = isinstance(value, list | tuple) and len(value) == 3
    return value is None or (three and all(_number(x, -1e9) and x < 1e9 for x in value))


def _count(value: Any) -> bool:
    return _whole(value)


KINDS: dict[str, Callable[[Any], bool]] = {
    "run": lambda value: isinstance(value, str),
    "seconds": lambda value: _number(value) and value < np.inf,
    "warnings": _texts,
    "settings": _texts,
    "finished": lambda value: type(value) is bool,
    "history": lambda value: isinstance(value, dict),
    "position": lambda value: _wholes(value, 4),
    "horizon": _number,
    "skipped_shards": _texts,
    "skip_reasons": _texts,
    "rounds": _figures,
    "shape": lambda value: value is None or _wholes(value, 16, 1),
    "names": lambda value: value is None or _texts(value),
    "holdout": lambda value: isinstance(value, dict),
    "deviation": lambda value: value is None or _array(value, "f", 1, 0),
    "figures": _figures,
    **dict.fromkeys(
        (
            "n_missing",
            "n_entries",
            "n_in_tensor",
            "n_documents",
            "n_judged",
            "n_looked_at",
            "n_dropped",
            "n_rounds",
            "n_skipped",
            "n_undated",
        ),
        _count,
    ),
    "n_times": _count,
    "document_texts": _texts,
    "document_places": lambda value: _array(value, "iu", 1, 0),
    "document_shares": lambda value: _array(value, "f", 2, 0),
    "stream_dates": lambda value: _texts(value) and len(value) > 0,
    "sample_codes": lambda value: _array(value, "f", 2),
    "sample_labels": _texts,
    "sample_texts": _texts,
    "sample_values": lambda value: isinstance(value, np.ndarray) and value.dtype.kind == "f",
    "time_starts": _texts,
    "time_shares": lambda value: _array(value, "f", 2),
    "time_documents": lambda value: _array(value, "iu", 1, 0),
    "grid": _grid,
    "kept": lambda value: _array(value, "iu", 1),
    "going": lambda value: _array(value, "fiu", 2, 0),
    "lumpability": lambda value: _number(value, -np.inf),
    "changes": lambda value: _array(value, "iu", 1, 0),
    "p_values": lambda value: _array(value, "f", 1),
    "courses": lambda value: _array(value, "f", 2),
    "frames_per_point": lambda value: _whole(value, 1),
    "series": _texts,
    "labels": _texts,
    "ahead_labels": _texts,
    "observed": lambda value: _array(value, "f", 2),
    "predicted": lambda value: _array(value, "f", 2),
    "ahead": lambda value: _array(value, "f", 3),
}
