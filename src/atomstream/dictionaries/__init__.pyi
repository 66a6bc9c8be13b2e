"""The dictionaries, typed."""

import typing

import atomstream.fields.convex.hulls
import atomstream.fields.tensors.loadings

from .base import Dictionary as Dictionary
from .rows import Rows as Rows

Hulls: typing.TypeAlias = atomstream.fields.convex.hulls.Hulls
Loadings: typing.TypeAlias = atomstream.fields.tensors.loadings.Loadings
