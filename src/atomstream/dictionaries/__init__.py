"""Dictionaries: free rows, loading matrices, or hulls of representative samples."""

from atomstream.dictionaries.base import Dictionary
from atomstream.dictionaries.hulls import Hulls
from atomstream.dictionaries.loadings import Loadings
from atomstream.dictionaries.rows import Rows

__all__ = ["Dictionary", "Hulls", "Loadings", "Rows"]
