"""Walks: trips between the cells of a map."""

from atomstream.domains.walks.trips import Grid, grid_cells

__all__ = ["Grid", "grid_cells"]
