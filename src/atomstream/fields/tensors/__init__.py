"""Tensors: dictionaries whose atoms are products of loadings, one for each axis of a sample.

Strohmeier (2023), "Online nonnegative CP-dictionary learning with applications to multimodal data",
chapter 4. Read `loadings` (the dictionary, and its products with samples by heads and tails),
`update` (Algorithms 7 and 8: block descent within the search radius), `figures` (starts, bounds,
critical points), `model` (the estimator with its `parameters`), `theorem` (what Theorem 1 asks) and
`parafac` (one tensor, by streaming through its slices); then `files` (arrays, coordinates and
labelled arrays on disk), `look` and `run` (``atomstream tensor learn``).
"""

from atomstream.base.axes import Axes

__all__ = ["Axes"]
