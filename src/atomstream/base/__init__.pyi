from .bootstrap import RowDraws
from .checks import (
    MAX_NUMBER,
    Fixed,
    RandomSource,
    are_fixed,
    check_count,
    check_number,
    counted,
    fixed_atoms,
    generator,
    lettered,
    plural,
    printable,
    renumbered,
)
from .columns import Columns
from .cusum import SLACK, moved, summed
from .extras import library
from .machine import check_memory, memory_there, most_threads, over_rows, share_out, threads
from .matrices import Matrix, Samples, checked_numbers, dense, of_sum_one, or_wider, stacked, unit
from .progress import Counted, compiling, shown_by, signals_handled, track

__all__ = [
    "MAX_NUMBER",
    "SLACK",
    "Columns",
    "Counted",
    "Fixed",
    "Matrix",
    "RandomSource",
    "RowDraws",
    "Samples",
    "are_fixed",
    "check_count",
    "check_memory",
    "check_number",
    "checked_numbers",
    "compiling",
    "counted",
    "dense",
    "fixed_atoms",
    "generator",
    "lettered",
    "library",
    "memory_there",
    "most_threads",
    "moved",
    "of_sum_one",
    "or_wider",
    "over_rows",
    "plural",
    "printable",
    "renumbered",
    "share_out",
    "shown_by",
    "signals_handled",
    "stacked",
    "summed",
    "threads",
    "track",
    "unit",
]
