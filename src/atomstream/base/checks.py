"""Checks of single settings; messages name the argument, what came and what was needed."""

import numbers
import re
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

MAX_COUNT = 2**62  # what arrays can be long at most; NumPy's own words are of no help beyond
# What becomes of several values of one time, or of one row and column of a table.
DUPLICATES = ("refuse", "mean", "sum", "first", "last")
MAX_NUMBER = 1e300  # so that sums and squares of a few stay finite as far as they can

RandomSource: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def check_number(name: str, value: Any) -> None:
    """Refuse a setting that is not a number of at least 0."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a number of at least 0, got {value!r:.80}.")
    if value > MAX_NUMBER:
        raise ValueError(f"{name} must be at most {MAX_NUMBER:.0e}, got {value!r:.80}.")


def check_count(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """Return a whole number within its limits."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least or value > (MAX_COUNT if most is None else most):
        far = whole and value > least  # too large, even where nothing in particular is the limit
        limits = f"from {least} to {most or MAX_COUNT}" if most or far else f"of at least {least}"
        raise ValueError(f"{name} must be a whole number {limits}, got {value!r:.80}.")
    return int(value)


def check_keywords(name: str, given: Iterable[str], known: Any) -> None:
    """Refuse keywords that a function does not hand on.

    Parameters
    ----------
    name : str
        Of the function.
    given : iterable of str
    known : iterable of str, or dataclass
        The keywords, or what has them as fields.

    Raises
    ------
    TypeError
    """
    names = [each.name for each in fields(known)] if is_dataclass(known) else list(known)
    if unknown := [keyword for keyword in given if keyword not in names]:
        raise TypeError(f"{name} has no {unknown[0]!r:.40}; known are {', '.join(names)}.")


def generator(random_state: RandomSource) -> np.random.Generator:
    """Return one generator from None, a seed, a Generator or scikit-learn's RandomState."""
    if isinstance(random_state, np.random.RandomState):
        # A RandomState is drawn from, so that two calls with one source differ, as scikit-learn's
        # do.
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint64))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be None, a whole number, a Generator or a RandomState, "
            f"got {random_state!r}."
        ) from None


def counted(n: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun for a message: "1 row", "2,000 rows", or "2 ``nouns``"."""
    return f"{n:,} {noun if n == 1 else nouns or plural(noun)}"


def plural(noun: str) -> str:
    """Return the regular plural of a noun: "rows", "patches"."""
    return f"{noun}es" if noun.endswith("ch") else f"{noun}s"


def lettered(number: int) -> str:
    """Return a number as letters: A to Z from 0 on, then AA, AB and on."""
    return (lettered(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)


def renumbered(sentence: str, words: Callable[[int], str]) -> str:
    """Return a complaint of a model in which the number of a row is put in other words."""
    return re.sub(r"first in (?:row|sample) (\d+)", lambda found: words(int(found[1])), sentence)


def printable(text: str) -> str:
    """Return a text in which characters that cannot be seen are escapes, of one backslash."""
    if text.isprintable():
        return text
    seen = (sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
    return "".join(seen)


Fixed: TypeAlias = int | tuple[int, ...]  # the first so many, or those at these places


def are_fixed(fixed: Fixed, n_atoms: int) -> NDArray:
    """Return whether each atom stays, (n_atoms,)."""
    stays = np.zeros(n_atoms, bool)
    stays[slice(fixed) if isinstance(fixed, int) else list(fixed)] = True
    return stays


def fixed_atoms(choice: Any, n_atoms: int) -> Fixed:
    """Return which atoms stay, from a number of first ones, a mask or indices.

    Parameters
    ----------
    choice : int, array-like of bool of shape (n_atoms,), or array-like of int
    n_atoms : int

    Raises
    ------
    ValueError
        For anything else, and for atoms that there are not.
    """
    if isinstance(choice, int | np.integer) and not isinstance(choice, bool) and choice >= 0:
        if choice > n_atoms:
            raise ValueError(
                f"fixed_components must be at most n_components={n_atoms}, got {choice}."
            )
        return int(choice)
    places = np.asarray(choice)
    if places.dtype == bool and places.shape == (n_atoms,):
        places = np.flatnonzero(places)
    if places.ndim != 1 or (len(places) and places.dtype.kind not in "iu"):
        raise ValueError(
            "fixed_components must be a whole number of at least 0, a mask of shape "
            f"({n_atoms},), or indices of atoms, got {choice!r:.80}."
        )
    if len(places) and not (places.min() >= 0 and places.max() < n_atoms):
        raise ValueError(
            f"fixed_components must name atoms from 0 to {n_atoms - 1}, got {choice!r:.80}."
        )
    found = tuple(sorted({int(place) for place in places}))
    # The first so many are the usual case, for which sweeps need no reordering.
    return len(found) if found == tuple(range(len(found))) else found
