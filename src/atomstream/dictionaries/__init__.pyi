"""The dictionaries, typed."""

import typing

import atomstream.fields.convex.hulls

from .base import Dictionary as Dictionary
from .loadings import Loadings as Loadings
from .rows import Rows as Rows

Hulls: typing.TypeAlias = atomstream.fields.convex.hulls.Hulls
