"""The dictionaries, typed."""

from .base import Dictionary as Dictionary
from .hulls import Hulls as Hulls
from .loadings import Loadings as Loadings
from .rows import Rows as Rows
