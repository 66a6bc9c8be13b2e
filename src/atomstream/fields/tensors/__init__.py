"""Tensors: dictionaries whose atoms are products of loadings."""

from atomstream.base.axes import Axes

__all__ = ["Axes"]
