"""Tensors: their axes, names and labels."""

from atomstream.domains.tensors.axes import Axes

__all__ = ["Axes"]
