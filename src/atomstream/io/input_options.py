"""Options for reading inputs: how tables are written, and which part of an input is meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from atomstream.base import DUPLICATES
from atomstream.exceptions import InputError

if TYPE_CHECKING:
    from atomstream.io.number_format import NumberFormat

AUTO, NO, YES = "auto", "no", "yes"
RAISE, SKIP = "raise", "skip"
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
ORDERS = (AUTO, DAY_FIRST, MONTH_FIRST)  # of the numbers of dates
REFUSE = "refuse"
Range = tuple[int, int]  # first and last number of lines
Find = Callable[[Sequence[str]], list[int]]  # the places of columns by their names
# What concerns lines of text, and no other kind of table.
BELOW_LIMIT = ("half", "zero", "limit", "missing")  # what a field such as <0.01 stands for
OF_TEXT = ("header", "delimiter", "comment", "skip_lines", "encoding")
OF_IMAGES = ("patch", "grey", "per_image", "center")
OF_SIGNS = (*OF_TEXT, "decimal", "thousands", "missing", "below_limit")


@dataclass(frozen=True)
class Naming:
    """Which columns of a table name its rows: these are never features.

    Parameters
    ----------
    ids : sequence of str, default=()
        Columns that must be there.
    known : sequence of str, default=()
        Columns that count where they are there.
    kept : bool, default=False
        Whether blocks carry them.
    """

    judges: ClassVar[bool] = False  # whether the first rows tell which
    ids: Sequence[str] = ()
    known: Sequence[str] = ()
    kept: bool = False

    def places(
        self, names: list[str], find: Find, rows: Sequence[Sequence[str]] = (), some: bool = False
    ) -> list[int]:
        """Return the places of these columns.

        Parameters
        ----------
        names : list of str
            Of all columns.
        find : callable
            Returns the places of columns by their names.
        rows : sequence of sequences of str, default=()
            First rows of a table of text.
        some : bool, default=False
            Whether columns of numbers were chosen by name.
        """
        wanted = [*(name for name in self.known if name in names), *self.ids]
        return list(dict.fromkeys(find(wanted))) if wanted else []


UNNAMED = Naming()


@dataclass(frozen=True)
class TableOptions:
    r"""How a table is written, and which of its columns are read.

    Parameters
    ----------
    columns : sequence of str, default=()
        Columns that are read: names, numbers from 1, or ranges of either; "numeric" stands for all
        that hold numbers. By default all.
    drop : sequence of str, default=()
        Columns that are left out, named as ``columns`` are.
    index : str, default="auto"
        Column that names the rows and is not read as numbers; "no" for none, "" for the columns at
        the beginning that have no name, "auto" for these where there are some, and for the index
        that pandas stores in Parquet files.
    header : {"auto", "yes", "no"}, default="auto"
        Whether the first line of a table of text names its columns.
    delimiter : str, optional
        One sign between fields; a blank stands for any number of blanks and tabs, and a backslash
        with a t for a tab. By default it is guessed.
    decimal : {".", ","}, default="."
        Decimal sign.
    thousands : str, optional
        Sign between groups of three digits.
    comment : str, optional
        Sign that begins a comment, up to the end of the line.
    skip_lines : str, default=""
        Lines that are left out: a number of first lines such as "3", or lines counted from 1, such
        as "2-2" or "1-3,61".
    encoding : str, optional
        How bytes stand for letters, such as "cp1252". By default it is guessed.
    missing : str, number or sequence of them, default=()
        Texts and numbers that stand for a missing entry, such as "-" and -99, besides empty
        fields, ``NA`` and their like.
    below_limit : {"half", "zero", "limit", "missing"}, optional
        What a field such as "<0.01" stands for: half of the limit, 0, the limit, or a missing
        entry. Without it such a field is refused.
    on_bad_line : {"raise", "skip"}, default="raise"
        Whether a line that cannot be read is refused, or is a row of missing entries.
    where_used : set of str, default=frozenset()
        Names of options that count only where the kind of input uses them; others are refused
        there.

    Raises
    ------
    InputError
        For an option out of range.
    """

    columns: Sequence[str] = ()
    drop: Sequence[str] = ()
    index: str = AUTO
    header: str = AUTO
    delimiter: str | None = None
    decimal: str = "."
    thousands: str | None = None
    comment: str | None = None
    skip_lines: str = ""
    encoding: str | None = None
    missing: Sequence[str] = ()
    below_limit: str | None = None
    on_bad_line: str = RAISE
    where_used: Set[str] = frozenset()

    def __post_init__(self) -> None:
        if self.delimiter == r"\t":  # as it is typed on a command line
            object.__setattr__(self, "delimiter", "\t")
        if self.missing != ():
            few = [self.missing] if isinstance(self.missing, str | int | float) else self.missing
            object.__setattr__(self, "missing", tuple(map(str, few)))
        check_choice("header", self.header, (AUTO, YES, NO))
        check_choice("on_bad_line", self.on_bad_line, (RAISE, SKIP))
        if self.given(OF_SIGNS):
            # Here, for most inputs have no signs, and arrays have no text.
            from atomstream.io.number_format import check_encoding, check_sign

            check_sign("comment", self.comment, [self.delimiter, self.decimal], ascii_only=True)
            check_sign("delimiter", self.delimiter, [self.decimal], ascii_only=True)
            check_encoding(self.encoding)
            lines_left_out(self.skip_lines)
            self.numbers  # noqa: B018 - which checks its own parts

    @property
    def numbers(self) -> NumberFormat:
        """How fields stand for numbers and missing entries."""
        from atomstream.io.number_format import NumberFormat  # loaded where text is read

        return NumberFormat(self.decimal, self.missing, self.thousands, self.below_limit)

    @property
    def skips(self) -> bool:
        """Whether a line that cannot be read is a row of missing entries."""
        return self.on_bad_line == SKIP

    def given(self, names: Sequence[str]) -> dict[str, Any]:
        """Return those of some options that differ from their defaults."""
        defaults = {each.name: each.default for each in fields(self)}
        return {
            name: getattr(self, name)
            for name in names
            if name in defaults and getattr(self, name) != defaults[name]
        }


@dataclass(frozen=True)
class InputOptions(TableOptions):
    """Options for reading inputs; each one concerns only some kinds of input.

    Those of `TableOptions` concern tables.

    Parameters
    ----------
    key : str, optional
        Name of the array in a ``.npz`` or HDF5 file, or Zarr group; of an ``.h5ad`` file "X",
        "raw/X" or a layer such as "layers/counts".
    patch : int, default=12
        Height and width of the patches of images.
    grey : bool, default=False
        Whether images are converted to grey.
    per_image : int, default=20000
        Number of patches drawn from each image in a pass.
    center : {"patch"}, optional
        "patch" subtracts the mean of each patch.
    seed : int, default=0
        Random seed of the order of patches.
    naming : Naming, default=UNNAMED
        Columns of tables that name rows.
    sample_axes : sequence of int, optional
        The axes of dense arrays that hold the samples, as in `atomstream.streams.CubeRows`; without
        them the first one.
    n_axes : int, default=0
        Where ``key`` is not given, the axes that an array must have to be the one that is meant.
    head : object, optional
        What the beginning of a table of text has told: then it is not looked at again.
    triples : bool, default=False
        Whether each line of a table holds the row, the column and the value of one entry; the
        others are missing. All inputs are one table.
    duplicates : {"refuse", "mean", "sum", "first", "last"}, default="refuse"
        What becomes of several values of one row and column of ``triples``.
    """

    key: str | None = None
    patch: int = 12
    grey: bool = False
    per_image: int = 20_000
    center: str | None = None
    seed: int = 0
    naming: Naming = UNNAMED
    sample_axes: Sequence[int] | None = None
    n_axes: int = 0
    head: Any = None
    triples: bool = False
    duplicates: str = REFUSE

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("duplicates", self.duplicates, DUPLICATES)
        if self.duplicates != REFUSE and not self.triples:
            raise InputError(
                f"duplicates is {self.duplicates!r}, which is for triples of row, column and value."
            )


def check_choice(name: str, value: str, known: Sequence[str]) -> None:
    """Refuse the value of an option that is not among its choices."""
    if value not in known:
        raise InputError(f"{name} is {value!r:.40}, needed is one of {', '.join(known)}.")


def is_among(line: int, ranges: Sequence[Range]) -> bool:
    """Return whether a line is in one of some ranges."""
    return any(begin <= line <= end for begin, end in ranges)


def lines_left_out(text: str) -> list[Range]:
    """Return the lines that an option such as "3" (the first three) or "2-2,61-61" leaves out.

    Raises
    ------
    InputError
        For other texts.
    """
    if not text:
        return []
    if re.fullmatch(r"\s*\d+\s*", text):
        return [(1, int(text))]
    ranges = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*", part)
        if not found or int(found[1]) < 1 or int(found[2] or found[1]) < int(found[1]):
            raise InputError(
                f"skip_lines is {text!r:.40}, needed is a number of first lines such as 3, or "
                "lines counted from 1 such as 2-2 or 1-3,61."
            )
        ranges.append((int(found[1]), int(found[2] or found[1])))
    return ranges
