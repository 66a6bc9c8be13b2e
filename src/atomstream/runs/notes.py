"""The notes of checkpoints: what a file may hold beside the model, read in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.base.fields import NUMBERS, Field, array, count, each, number, one_of, part, texts
from atomstream.exceptions import (
    CorruptModelError,
    IncompatiblePartsError,
    InputError,
    ModelFileError,
)
from atomstream.files.codec import SENSELESS, read_model
from atomstream.watch.callbacks import History


def read_checkpoint(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the model of a file and its notes, each of the kind that runs write.

    Raises
    ------
    ModelFileError
        For a file that is not a model file, and for notes of another kind; the message names one.
    """
    model, notes = read_model(path)
    for name, value in notes.items():
        try:
            if name in NOTES:
                NOTES[name].check(value, {}, "the notes")
        except ValueError as error:
            raise CorruptModelError(f"{path} has a note that makes no sense: {error}.") from None
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


def _figures(value: Any, sizes: dict[str, int]) -> bool:
    """Return whether a value is a dict of texts and numbers, none of them NaN."""
    known = number("figure", at_least=-np.inf)
    return isinstance(value, dict) and all(
        isinstance(name, str) and known.fits(item, sizes) for name, item in value.items()
    )


COUNTS = (
    *("n_missing", "n_entries", "n_in_tensor", "n_documents", "n_judged", "n_looked_at"),
    *("n_dropped", "n_rounds", "n_skipped", "n_undated", "n_times"),
)
TEXTS = (
    *("warnings", "settings", "skipped_shards", "skip_reasons", "document_texts"),
    *("sample_labels", "sample_texts", "time_starts", "series", "labels", "ahead_labels"),
)
NOTES = {
    field.name: field
    for field in (
        *map(count, COUNTS),
        *map(texts, TEXTS),
        *(Field(name, "numbers by their names", _figures) for name in ("rounds", "figures")),
        *(part("run", str), part("history", dict), part("holdout", dict)),
        *(number("seconds", at_least=0, finite=True), number("horizon", at_least=0)),
        *(number("lumpability", at_least=-np.inf), one_of("finished", (True, False))),
        *(texts("names", optional=True), texts("stream_dates", at_least=1)),
        each(count("position"), at_least=1, at_most=4),
        each(count("shape", 1, optional=True), at_least=1, at_most=16),
        each(number("grid", at_least=-1e9, below=1e9, optional=True), at_least=3, at_most=3),
        count("frames_per_point", 1),
        *(array("deviation", "n", at_least=0, optional=True), array("p_values", "n")),
        *(array("document_places", "n", "iu", at_least=0), array("kept", "n", "iu")),
        *(array("time_documents", "n", "iu", at_least=0), array("changes", "n", "iu", at_least=0)),
        *(array("document_shares", "n k", at_least=0), array("time_shares", "n k")),
        *(array("sample_codes", "n k"), array("sample_values", "...")),
        *(array("courses", "n k"), array("going", "n k", NUMBERS, at_least=0)),
        *(array("observed", "n d"), array("predicted", "n d"), array("ahead", "a n d")),
    )
}
