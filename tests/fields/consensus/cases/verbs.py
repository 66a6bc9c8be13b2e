"""Files that runs of a consensus read, and what is read of them."""

from written import ARRAYS, TABLES, rows, write

CASES = {"consensus": ((*TABLES, *ARRAYS), write, rows, lambda path: {})}
