"""Columns of tables by name, number and range; those that name rows; complaints about them."""

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from atomstream.base import counted, listed
from atomstream.exceptions import InputError
from atomstream.io.number_format import NumberFormat

NUMERIC = "numeric"  # in place of the names of columns: those that hold numbers
MAX_NAMES = 5  # columns that a message lists
ROWS_JUDGED = 20  # first ones, of which texts are looked at


def as_texts(row: Iterable[Any]) -> list[str]:
    """Return the entries of a row as texts, "" where one is missing."""
    return ["" if entry is None else str(entry) for entry in row]


def chosen(
    names: list[str], columns: Sequence[str], source: str, texts: Collection[int] = ()
) -> list[int]:
    """Return the places of columns given by name, number, range or "numeric"; by default all.

    ``texts`` are the places of columns that do not hold numbers.
    """
    if not columns:
        return list(range(len(names)))
    if [*columns] == names:  # all of them in their order, even where two share a name
        return list(range(len(names)))
    known = _by_name(names)
    return [place for column in columns for place in _places(known, names, column, source, texts)]


def dropped(names: list[str], columns: Sequence[str], source: str) -> list[int]:
    """Return the places of columns to leave out; by default none."""
    return chosen(names, columns, source) if columns else []


def _by_name(names: list[str]) -> dict[str, list[int]]:
    """Return the places of the columns of each name."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        found.setdefault(name, []).append(place)
    return found


def _places(
    known: dict[str, list[int]],
    names: list[str],
    column: str,
    source: str,
    texts: Collection[int],
) -> Iterable[int]:
    """Return the places that a name, a number from 1, a range or "numeric" stands for."""
    if column == NUMERIC and column not in known:
        return (place for place in range(len(names)) if place not in texts)
    if (place := _place(known, names, column, source)) is not None:
        return [place]
    for dash in re.finditer("-", column):  # names may hold dashes, too
        texts_of_ends = column[: dash.start()], column[dash.end() :]
        ends = [_place(known, names, end, source) for end in texts_of_ends]
        if ends[0] is not None and ends[1] is not None and ends[0] <= ends[1]:
            return range(ends[0], ends[1] + 1)
    raise InputError(
        f"{source} has no column {column!r}; it has {len(names)}: {listed(names)}."
        f"{_did_you_mean(column, names)}"
    )


def _place(known: dict[str, list[int]], names: list[str], column: str, source: str) -> int | None:
    """Return the place of the one column of this name or number; None where there is none."""
    places = known.get(column, [])
    if len(places) > 1:
        numbers = " and ".join(str(place + 1) for place in places[:MAX_NAMES])
        raise InputError(
            f"{source} has {'two' if len(places) == 2 else len(places)} columns with the name "
            f"{column!r}; name one by its number: {numbers}."
        )
    if places:
        return places[0]
    if column.isdecimal() and 1 <= int(column) <= len(names):
        return int(column) - 1
    return None


def _did_you_mean(column: str, names: list[str]) -> str:
    """Return a question that names the column most like an unknown one, or nothing."""
    lowered = {name.lower(): name for name in names}
    like = get_close_matches(column.lower(), lowered, n=1)
    return f" Did you mean {lowered[like[0]]!r}?" if like else ""


def refuse_texts(
    texts: dict[str, str], name: str, form: NumberFormat, *, n_columns: int = 0
) -> None:
    """Raise for chosen columns of text; ``texts`` maps each name to an example."""
    if not texts:
        return
    column, field = next(iter(texts.items()))
    advice = form.advice(field)
    index = f", or name rows by it with --index {column}" if column and len(texts) == 1 else ""
    if len(texts) == 2 and n_columns == 3:  # such as user, item and rating
        index = ", or say --triples where each line is the entry of a row and a column"
    raise InputError(
        f"{name}: {'columns' if len(texts) > 1 else 'column'} {listed(list(texts))} "
        f"{'are' if len(texts) > 1 else 'is'} not numeric ({column!r:.40} holds {field!r:.40}); "
        f"{advice if not advice.startswith('give --na') else ''}choose others with --columns, "
        f"leave them out with --drop, or take --columns numeric{index}."
    )


def refuse_field(
    form: NumberFormat, name: str, line: int, row: int, column: str, field: object
) -> InputError:
    """Return the complaint about a field that is no number."""
    advice = form.advice(field) if isinstance(field, str) else ""
    return InputError(
        f"Line {line} of {name} (row {row}, counted from 0) has {field!r:.40} in column "
        f"{column!r:.80}, needed are numbers; {advice}leave the line out with --skip-lines "
        f"{line}-{line} or --on-bad-line skip, or the column with --drop."
    )


def refuse_width(name: str, line: int, row: int, width: int, got: int) -> InputError:
    """Return the complaint about a line with too few or too many fields."""
    return InputError(
        f"Line {line} of {name} (row {row}, counted from 0) has {counted(got, 'field')}, expected "
        f"{counted(width, 'column')}; leave the line out with --skip-lines {line}-{line} or "
        "--on-bad-line skip, or name the sign between fields with --delimiter."
    )
