"""Walks: states fall into groups by where a random walk goes from them.

Yang, Braverman, Zhao and Wang, "Online factorization and partition of complex networks from random
walks". Read `update` (the Hebbian step on stacked factors, equations 10 and 11, compiled in
`kernel`), `learning` (transitions as they come, section 3.1), `model` (the estimator: stationary
distribution, embedding and partition of section 3.3, median of runs of appendix B), `states`
(singular vectors, mixing times of section 4.1), `theorem` (Algorithm 1 and what Theorems 1 and 2
ask), `parameters`, `trips` (cells of a map), then `look` (pictures) and `run` (``atomstream walk
partition``).
"""

from atomstream.fields.walks.trips import Grid, grid_cells

__all__ = ["Grid", "grid_cells"]
