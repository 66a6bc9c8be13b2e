"""Experiment 002-5: cities partitioned by the trips of their taxis.

Yang, Braverman, Zhao and Wang, section 5.2 and Fig. 2, there with 11 million trips of New York on
2,017 cells, of which the shared data hold only the heads of two months. Here: 226,083 trips of
Santiago on cells of 500 m that are met 20 times or more, and 6,433 trips between the taxi zones of
New York (zones met 5 times or more). Rank r = 4, 10, 15 and as many clusters, at most three passes
in random order, default settings.

Told: the energy captured, tr(U' F V) over the sum of the r largest singular values of F; the
adjusted Rand index against the partition of the batch method (singular vectors of the counts, same
embedding, same k-means), beside that of two batch partitions, each from one random half of the
trips; lumpability of both partitions; sizes of what is kept.

Leaves ``results/002-5.png`` and ``results/002-5.json``.
"""

from __future__ import annotations

import csv
import gzip
from time import perf_counter

import numpy as np
import scipy.sparse as sp
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save
from scipy.sparse.linalg import svds
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from atomstream import RandomWalkFactorization
from atomstream.diagnostics import lumpability
from atomstream.domains.walks import trips

RANKS, PASSES, MIN_VISITS = (4, 10, 15), 3, 10


def numbered(
    origins: np.ndarray, destinations: np.ndarray, least: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (origins, destinations, names) as numbers of states that are met often enough."""
    names, counts = np.unique(np.concatenate([origins, destinations]), return_counts=True)
    names = names[counts >= least]
    good = np.isin(origins, names) & np.isin(destinations, names)
    return np.searchsorted(names, origins[good]), np.searchsorted(names, destinations[good]), names


def santiago() -> tuple[np.ndarray, np.ndarray, np.ndarray, trips.Grid]:
    """Return trips between cells, the cells, and the grid."""
    with np.load(DATA / "taxi/santiago_od_half.npz") as stored:
        rows = stored["trips"]
    cells, grid = trips.grid_cells(rows[:, [0, 2]].T.ravel(), rows[:, [1, 3]].T.ravel(), 500.0)
    origins, destinations = np.split(cells, 2)
    good = (origins >= 0) & (destinations >= 0)
    return *numbered(origins[good], destinations[good], 20), grid


def new_york() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return trips between zones, and their names."""
    with gzip.open(DATA / "taxi/nyc_zones_2019-03.csv.gz", "rt") as file:
        rows = [(row["pickup_zone"], row["dropoff_zone"]) for row in csv.DictReader(file)]
    origins, destinations = np.array([row for row in rows if all(row)]).T
    return numbered(origins, destinations, 5)


def batch(counts: sp.csr_array, rank: int) -> tuple[np.ndarray, float]:
    """Return (partition by singular vectors of the counts, sum of the singular values)."""
    _, values, right = svds(
        counts / counts.sum(), rank, v0=np.ones(counts.shape[0]), random_state=0
    )
    visits = counts.sum(axis=0)
    points = right.T / (np.maximum(visits, MIN_VISITS) / visits.sum())[:, None]
    weight = visits + counts.sum(axis=1)
    return KMeans(rank, n_init=10, random_state=0).fit(points, sample_weight=weight).labels_, float(
        values.sum()
    )


def counted(origins: np.ndarray, destinations: np.ndarray, m: int) -> sp.csr_array:
    """Return how often each trip was made."""
    return sp.coo_array((np.ones(len(origins)), (origins, destinations)), (m, m)).tocsr()


def study(origins: np.ndarray, destinations: np.ndarray, m: int) -> tuple[dict, dict]:
    """Return (numbers by rank, partitions by rank)."""
    rng = np.random.default_rng(0)
    counts = counted(origins, destinations, m)
    half = rng.random(len(origins)) < 0.5
    halves = [counted(origins[part], destinations[part], m) for part in (half, ~half)]
    report, partitions = {}, {}
    for rank in RANKS:
        model = RandomWalkFactorization(rank, n_states=m, random_state=0)
        captured, seconds = [], 0.0
        whole, best = batch(counts, rank)
        for _ in range(PASSES):
            order = rng.permutation(len(origins))
            start = perf_counter()
            model.partial_fit_transitions(origins[order], destinations[order])
            seconds += perf_counter() - start
            flow = counts / counts.sum()
            captured.append(float(np.trace(model.left_.T @ (flow @ model.right_)) / best))
        labels = model.partition()
        parts = [batch(part, rank)[0] for part in halves]
        arrays = [value for value in vars(model.factor_).values() if isinstance(value, np.ndarray)]
        report[rank] = {
            "captured after each pass": captured,
            "adjusted Rand index against batch": float(adjusted_rand_score(whole, labels)),
            "of two batch partitions of halves": float(adjusted_rand_score(*parts)),
            "lumpability, ours": lumpability(counts, labels),
            "lumpability, batch": lumpability(counts, whole),
            "seconds, three passes": seconds,
            "kept by ours, MB": sum(array.nbytes for array in arrays) / 1e6,
            "dense counts, MB": 8 * m * m / 1e6,
        }
        partitions[rank] = (labels, whole)
        print(rank, report[rank], flush=True)
    return report, partitions


def draw(axes, grid: trips.Grid, cells: np.ndarray, labels: np.ndarray, title: str) -> None:
    """Draw a partition, largest cluster first in the order of colours."""
    from matplotlib import colormaps

    down, across = grid.steps
    square = np.array([[0, 0], [across, 0], [across, down], [0, down]])
    names, sizes = np.unique(labels, return_counts=True)
    rank = np.argsort(np.argsort(-sizes))
    colours = np.array([colormaps["tab20"](i) for i in range(20)])[
        rank[np.searchsorted(names, labels)]
    ]
    corners = grid.corners(cells)[:, ::-1]
    axes.add_collection(
        PolyCollection(corners[:, None] + square, facecolors=colours, edgecolors="none")
    )
    low, high = np.quantile(corners, 0.01, axis=0), np.quantile(corners, 0.99, axis=0)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[], title=title)
    axes.set_aspect(1 / np.cos(np.radians(grid.latitude)))


def main() -> None:
    """Study both cities, draw Santiago, write the numbers."""
    origins, destinations, cells, grid = santiago()
    report: dict = {"Santiago": {"trips": len(origins), "cells": len(cells)}}
    numbers, partitions = study(origins, destinations, len(cells))
    report["Santiago"] |= numbers
    figure = Figure(figsize=(12, 8.4), layout="constrained")
    grid_axes = figure.subplots(2, len(RANKS))
    for column, rank in enumerate(RANKS):
        for row, (labels, name) in enumerate(
            zip(partitions[rank], ("online", "batch"), strict=True)
        ):
            draw(grid_axes[row, column], grid, cells, labels, f"{name}, r = {rank}")
    origins, destinations, zones = new_york()
    report["New York"] = {"trips": len(origins), "zones": len(zones)}
    report["New York"] |= study(origins, destinations, len(zones))[0]
    save_figure(figure, "002-5", 80)
    save("002-5", report)


if __name__ == "__main__":
    main()
