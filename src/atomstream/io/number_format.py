"""Fields of tables of text: the number that each stands for, or a missing entry."""

import codecs
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.exceptions import InputError

# What pandas takes for a missing entry.
NOTHING = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "None", "<NA>"),
    *("#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
BELOW = {"half": 0.5, "zero": 0.0, "limit": 1.0, "missing": math.nan}  # of the limit
NAN = re.compile(r"[+-]?nan(\(\w*\))?", re.IGNORECASE)  # as C prints it, "-nan(ind)"
WORDS = {"True": 1.0, "TRUE": 1.0, "true": 1.0, "False": 0.0, "FALSE": 0.0, "false": 0.0}
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
GROUPED = re.compile(r"\s*[+-]?[1-9]\d{0,2}([,.' \u00a0\u202f])\d{3}(\1\d{3})*([.,]\d*)?\s*")
SAY_COMMA = "give decimal=',' (on the command line --decimal ,)"
SIGNS = '"\r\n\0'  # that part neither fields nor digits


def check_sign(
    name: str, sign: str | None, others: Sequence[str | None] = (), *, ascii_only: bool = False
) -> None:
    """Raise InputError for what cannot be a delimiter or a sign within numbers.

    Parameters
    ----------
    name : str
        Of the option.
    sign : str or None
    others : sequence of (str or None), default=()
        Signs from which it must differ.
    ascii_only : bool, default=False
    """
    if sign is None:
        return
    wrong = not isinstance(sign, str) or len(sign) != 1 or sign in SIGNS or sign.isalnum()
    if wrong or (ascii_only and not sign.isascii()):
        raise InputError(
            f"{name} is {sign!r:.40}, needed is one sign that is no letter, digit or quotation "
            "mark."
        )
    if sign in others:
        raise InputError(f"{name} and another sign are both {sign!r}; they must differ.")


@dataclass(frozen=True)
class NumberFormat:
    """How tables of text write numbers and missing entries.

    Parameters
    ----------
    decimal : {".", ","}, default="."
        The decimal sign. Beside decimal commas a point may mean thousands: it is refused.
    missing : sequence of str, default=()
        What stands for a missing entry besides an empty field, ``NA`` and their like.
    thousands : str, optional
        Sign between groups of three digits.
    below_limit : {"half", "zero", "limit", "missing"}, optional
        What a field such as "<0.01" stands for: half of the limit, 0, the limit, or a missing
        entry. Without it such a field is no number.

    Raises
    ------
    InputError
        For other signs.
    """

    decimal: str = "."
    missing: Sequence[str] = ()
    thousands: str | None = None
    below_limit: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise InputError(f"decimal is {self.decimal!r:.40}, needed is '.' or ','.")
        check_sign("thousands", self.thousands, [self.decimal])
        if self.below_limit is not None and self.below_limit not in BELOW:
            known = ", ".join(BELOW)
            raise InputError(f"below_limit is {self.below_limit!r:.40}, needed is one of {known}.")

    @property
    def is_plain(self) -> bool:
        """Whether parsers know all that fields can be."""
        return self.thousands is None and self.below_limit is None

    @cached_property
    def words(self) -> list[str]:
        """Texts that stand for a missing entry."""
        return [*NOTHING, *self.missing]

    @cached_property
    def sentinels(self) -> list[float]:
        """The numbers that stand for a missing entry, however they are written."""
        usual = NumberFormat(self.decimal, (), self.thousands)
        return [usual.entry(field) for field in self.missing if usual.is_entry(field)]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """All of a field that is a number, without what stands around it."""
        point = re.escape(self.decimal)
        whole = "[0-9]+"
        if self.thousands is not None:
            whole = rf"(?:[0-9]{{1,3}}(?:{re.escape(self.thousands)}[0-9]{{3}})+|[0-9]+)"
        digits = rf"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        below = "(<=?\\s*)?" if self.below_limit is not None else "()"
        return re.compile(rf"{below}([+-]?(?:{digits}|inf|infinity))", re.IGNORECASE)

    def entry(self, field: Any) -> float:
        """Return the number in a field of a table; NaN for a missing entry.

        Raises
        ------
        TypeError, ValueError
            For what is neither.
        """
        if not isinstance(field, str):
            return math.nan if field is None else float(field)
        field = field.strip()
        if field in self._nothing or NAN.fullmatch(field):
            return math.nan
        return WORDS[field] if field in WORDS else self.number(field)

    def number(self, field: Any) -> float:
        """Return the number in a field, which is not missing.

        Raises
        ------
        TypeError, ValueError
            For what is no number.
        """
        if not isinstance(field, str):
            return float(field)
        found = self.pattern.fullmatch(field.strip())
        if found is None:
            raise ValueError(f"{field!r} is not a number")
        plain = found[2].replace(self.thousands, "") if self.thousands is not None else found[2]
        share = 1.0 if self.below_limit is None or not found[1] else BELOW[self.below_limit]
        return share * float(plain.replace(",", "."))

    @cached_property
    def _nothing(self) -> frozenset[str]:
        return frozenset((*NOTHING, *(word.strip() for word in self.missing)))

    def is_missing(self, field: str) -> bool:
        """Return whether a field stands for a missing entry."""
        field = field.strip()
        return field in self._nothing or NAN.fullmatch(field) is not None

    def is_entry(self, field: Any) -> bool:
        """Return whether a field is a number, or stands for a missing entry."""
        try:
            self.entry(field)
        except (TypeError, ValueError):
            return False
        return True

    def kinds(self, fields: Sequence[str]) -> tuple[NDArray, NDArray]:
        """Return which fields are numbers, and which stand for missing entries, as `entry` reads.

        All at once, without a call for each: a beginning of a table has thousands of them.
        """
        nothing, is_nan, is_number = self._nothing, NAN.fullmatch, self.pattern.fullmatch
        texts = [field.strip() for field in fields]
        empty = [text in nothing or is_nan(text) is not None for text in texts]
        numbers = [text in WORDS or is_number(text) is not None for text in texts]
        return np.array(numbers, bool) & ~np.array(empty, bool), np.array(empty, bool)

    def advice(self, field: str) -> str:
        """Return what would let a field be read, as the beginning of a list; empty if nothing."""
        if self.decimal == "." and DECIMAL_COMMA.fullmatch(field) and not GROUPED.fullmatch(field):
            return f"for decimal commas {SAY_COMMA}; "
        if self.below_limit is None and re.match(r"\s*<=?\s*[\d.,]+\s*$", field):
            return f"give --below-limit ({', '.join(BELOW)}) to read what is below a limit; "
        if self.thousands is None and (found := GROUPED.fullmatch(field)):
            sign = repr(found[1]) if found[1] != "," else ","
            return f"give --thousands {sign} for groups of three digits; "
        return f"give --na {field.strip()} if it stands for a missing entry; "


PLAIN = NumberFormat()


def check_encoding(encoding: str | None) -> None:
    """Raise InputError for the name of an encoding of texts that is not known."""
    try:
        known = encoding is None or codecs.lookup(encoding)._is_text_encoding
    except (LookupError, ValueError):
        known = False
    if not known:
        raise InputError(
            f"encoding is {encoding!r:.40}, which is not known; common ones are utf-8, cp1252, "
            "latin-1, utf-16 and shift_jis."
        )
