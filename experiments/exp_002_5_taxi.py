"""Experiment 002-5: a city partitioned by the trips of its taxis, into areas that one can read.

Yang, Braverman, Zhao and Wang, section 5.2 and Fig. 2, there with 11 million trips of New York on
2,017 cells, of which the shared data hold only the heads of two months. Here: 226,083 trips of
Santiago, and 6,433 trips between the taxi zones of New York (zones met 5 times or more).

Half of Santiago's trips, drawn at random, choose the settings and the other half is reported. To
choose from: cells of 500 or 1,000 m; cells with fewer than 20 trip ends dropped, or cells joined to
their neighbours until each has 100, 200 or 400; the joint distribution F of the two ends of a trip
factorized as in the paper, or D^-1/2 F D^-1/2; points of destinations alone, or of both ends. A
setting is as good as the mean, over r = 4, 10, 15, of contiguity and stability:

- contiguity: of the neighbouring pairs of cells the share with one label, less what shuffled labels
  have, over what is left to one: 0 is salt and pepper, 1 is one area per label;
- stability: the adjusted Rand index of two partitions, each from half of the trips.

Both can be had without trips. So "information" is told as well: the mutual information, in nats, of
the parts of origin and of destination, of the trips of one half by the partition from the other,
mean of both ways. Simple rivals on the chosen cells are k-means of the places of cells, weighted by
trip ends, and communities of the graph of trips (greedy modularity of networkx, merged to r).

Told besides: the energy captured, tr(U' G V) over the sum of the r largest singular values of what
is factorized, and the agreement with the batch method (singular vectors of the counts, the same
points and k-means). Rank r and as many clusters, ten passes in random order, default settings
otherwise.

Leaves ``results/002-5.png`` and ``results/002-5.json``.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from itertools import product
from time import perf_counter

import numpy as np
import scipy.sparse as sp
from matplotlib import colormaps
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from partition_baselines import communities, information, places
from pictures import save_figure
from records import DATA, save
from scipy.sparse.linalg import svds
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from atomstream import RandomWalkFactorization
from atomstream.fields.walks import trips

RANKS, PASSES, MIN_VISITS, LEAST = (4, 10, 15), 10, 10, 20
SIZES, JOINED, SCALINGS, SIDES = (
    (500, 1000),
    (0, 100, 200, 400),
    ("none", "stationary"),
    ("right", "both"),
)
ROWS = 2**31  # a cell has the number row * ROWS + column
PLACES = {
    "centre": (-33.438, -70.651),
    "airport": (-33.393, -70.790),
    "Las Condes": (-33.408, -70.567),
    "Maipú": (-33.510, -70.757),
    "La Florida": (-33.522, -70.598),
    "Puente Alto": (-33.610, -70.576),
    "Quilicura": (-33.365, -70.730),
}


@dataclass(frozen=True)
class Setting:
    """What partitions depend on: side of a cell in metres, least trip ends of joined cells."""

    size: int
    joined: int
    scaling: str
    side: str


PAPER = Setting(500, 0, "none", "right")


@dataclass(frozen=True)
class Chain:
    """Trips between states; each known square of the map belongs to a state."""

    origins: np.ndarray
    destinations: np.ndarray
    squares: np.ndarray
    states: np.ndarray

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.states.max()) + 1

    def neighbours(self) -> np.ndarray:
        """Return the pairs of different states of which squares share a side."""
        pairs = np.sort(self.states[adjacent(self.squares)], axis=1)
        return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)

    def part(self, kept: np.ndarray) -> Chain:
        """Return the chain of some of the trips, on the same states."""
        return Chain(self.origins[kept], self.destinations[kept], self.squares, self.states)


def adjacent(squares: np.ndarray) -> np.ndarray:
    """Return pairs of places of squares that share a side; the numbers are sorted."""
    rows, columns = np.divmod(squares, ROWS)
    found = []
    for other in ((rows + 1) * ROWS + columns, rows * ROWS + columns + 1):
        place = np.minimum(np.searchsorted(squares, other), len(squares) - 1)
        here = np.flatnonzero(squares[place] == other)
        found.append(np.column_stack([here, place[here]]))
    return np.concatenate(found)


def joined(squares: np.ndarray, ends: np.ndarray, least: int) -> np.ndarray:
    """Return a group for each square: the smallest joins its smallest neighbour, again and again.

    Groups that have no neighbour may stay below ``least`` trip ends.
    """
    group, total = np.arange(len(squares)), ends.astype(float)
    beside: list[set[int]] = [set() for _ in squares]
    for a, b in adjacent(squares):
        beside[a].add(b)
        beside[b].add(a)
    while True:
        open_ = [g for g in np.unique(group) if total[g] < least and beside[g]]
        if not open_:
            return group
        small = min(open_, key=lambda g: (total[g], g))
        into = min(beside[small], key=lambda g: (total[g], g))
        group[group == small] = into
        total[into] += total[small]
        for other in beside[small] - {into}:
            beside[other] = (beside[other] - {small}) | {into}
            beside[into].add(other)
        beside[into] -= {small, into}


def chain(cells: np.ndarray, setting: Setting) -> Chain:
    """Return trips, (n, 2) numbers of squares, as moves between states that are met often."""
    cells = cells[(cells >= 0).all(axis=1)]
    squares, ends = np.unique(cells, return_counts=True)
    group = joined(squares, ends, setting.joined)
    often = np.bincount(group, ends)[group] >= max(setting.joined, LEAST)
    squares, states = squares[often], np.unique(group[often], return_inverse=True)[1]
    kept = cells[np.isin(cells, squares).all(axis=1)]
    return Chain(*states[np.searchsorted(squares, kept)].T, squares, states)


def scaled_counts(moves: Chain, scaling: str) -> tuple[sp.csr_array, list[np.ndarray]]:
    """Return what is factorized, and the frequencies of states as origins and destinations."""
    m, n = moves.n_states, len(moves.origins)
    ends = (moves.origins, moves.destinations)
    F = sp.coo_array((np.full(n, 1 / n), ends), (m, m)).tocsr()
    shares = [np.maximum(np.bincount(side, minlength=m), MIN_VISITS) / n for side in ends]
    if scaling == "none":
        return F, shares
    left, right = (sp.diags_array(1 / np.sqrt(share)) for share in shares)
    return (left @ F @ right).tocsr(), shares


def batch(moves: Chain, rank: int, setting: Setting) -> tuple[np.ndarray, float]:
    """Return (partition by the singular vectors of the counts, sum of the singular values)."""
    G, shares = scaled_counts(moves, setting.scaling)
    left, values, right = svds(G, rank, v0=np.ones(len(shares[0])), random_state=0)
    power = 1.0 if setting.scaling == "none" else 0.5
    points = [
        side / share[:, None] ** power for side, share in zip((left, right.T), shares, strict=True)
    ]
    points = np.hstack(points) if setting.side == "both" else points[1]
    weight = shares[0] + shares[1]
    means = KMeans(rank, n_init=10, random_state=0).fit(points, sample_weight=weight)
    return means.labels_, float(values.sum())


def learn(moves: Chain, rank: int, scaling: str) -> tuple[RandomWalkFactorization, float]:
    """Return (model after all passes, seconds)."""
    model = RandomWalkFactorization(rank, n_states=moves.n_states, scaling=scaling, random_state=0)
    rng, start = np.random.default_rng(0), perf_counter()
    for _ in range(PASSES):
        order = rng.permutation(len(moves.origins))
        model.partial_fit_transitions(moves.origins[order], moves.destinations[order])
    return model, perf_counter() - start


def contiguity(labels: np.ndarray, pairs: np.ndarray) -> dict[str, float]:
    """Return shares of neighbours with one label, of ours and of shuffled labels."""
    rng = np.random.default_rng(0)
    share = float((labels[pairs[:, 0]] == labels[pairs[:, 1]]).mean())
    shuffled = []
    for _ in range(50):
        mixed = rng.permutation(labels)
        shuffled.append((mixed[pairs[:, 0]] == mixed[pairs[:, 1]]).mean())
    chance = float(np.mean(shuffled))
    return {"share": share, "shuffled": chance, "above chance": (share - chance) / (1 - chance)}


def clustered(moves: Chain, rank: int) -> np.ndarray:
    """Return clusters of where cells lie."""
    return places(moves, np.column_stack(np.divmod(moves.squares, ROWS)), rank)


def rivals(moves: Chain) -> dict[str, dict[int, dict]]:
    """Return contiguity, stability and information of the simple rivals by rank."""
    half = np.random.default_rng(1).random(len(moves.origins)) < 0.5
    parts, told = [moves.part(kept) for kept in (half, ~half)], {}
    for name, rival in (("places", clustered), ("communities", communities)):
        told[name] = {}
        for rank in RANKS:
            halves = [rival(part, rank) for part in parts]
            told[name][rank] = {
                "contiguity": contiguity(rival(moves, rank), moves.neighbours()),
                "stability": float(adjusted_rand_score(*halves)),
                "information": information(halves, parts),
            }
    return told


def judge(moves: Chain, scaling: str) -> dict[str, dict[int, dict]]:
    """Return contiguity and stability by side and rank, with the partitions."""
    half = np.random.default_rng(1).random(len(moves.origins)) < 0.5
    pairs, found = moves.neighbours(), {side: {} for side in SIDES}
    for rank in RANKS:
        whole, seconds = learn(moves, rank, scaling)
        trips_of = [moves.part(kept) for kept in (half, ~half)]
        parts = [learn(part, rank, scaling)[0] for part in trips_of]
        for side in SIDES:
            labels = whole.partition(side=side)
            halves = [part.partition(side=side) for part in parts]
            both = (halves[0] >= 0) & (halves[1] >= 0)
            found[side][rank] = {"contiguity": contiguity(labels, pairs)} if len(pairs) else {}
            found[side][rank] |= {
                "stability": float(adjusted_rand_score(halves[0][both], halves[1][both])),
                "information": information(halves, trips_of),
                "largest part, share of cells": float(np.bincount(labels).max() / len(labels)),
                "seconds": seconds,
                "model": whole,
                "labels": labels,
            }
    return found


def score(found: dict[int, dict]) -> float:
    """Return the mean of contiguity and stability over the ranks."""
    return float(
        np.mean(
            [(one["contiguity"]["above chance"] + one["stability"]) / 2 for one in found.values()]
        )
    )


def report(moves: Chain, setting: Setting, found: dict[int, dict]) -> dict:
    """Return the numbers of one setting, beside the batch method."""
    told: dict = {"states": moves.n_states}
    G, _ = scaled_counts(moves, setting.scaling)
    for rank, one in found.items():
        model, labels = one.pop("model"), one.pop("labels")
        whole, best = batch(moves, rank, setting)
        kept = [part for part in vars(model.factor_).values() if isinstance(part, np.ndarray)]
        told[rank] = one | {
            "captured": float(np.trace(model.left_.T @ (G @ model.right_)) / best),
            "adjusted Rand index to the batch": float(adjusted_rand_score(whole, labels)),
            "kept, MB": sum(part.nbytes for part in kept) / 1e6,
            "dense counts, MB": 8 * moves.n_states**2 / 1e6,
        }
    return told


def choose(cells: dict[int, np.ndarray]) -> tuple[Setting, list[dict]]:
    """Return the best setting, and what all have."""
    tried = []
    for size, least, scaling in product(SIZES, JOINED, SCALINGS):
        moves = chain(cells[size], Setting(size, least, scaling, SIDES[0]))
        for side, found in judge(moves, scaling).items():
            setting = Setting(size, least, scaling, side)
            tried.append((score(found), setting))
            print(tried[-1], flush=True)
    best = max(tried, key=lambda one: one[0])[1]
    return best, [vars(setting) | {"score": value} for value, setting in tried]


def santiago() -> tuple[dict[int, np.ndarray], dict[int, trips.Grid]]:
    """Return the squares of origins and destinations for each size, and the grids."""
    with np.load(DATA / "taxi/santiago_od_half.npz") as stored:
        rows = stored["trips"]
    cells, grids = {}, {}
    for size in SIZES:
        found, grids[size] = trips.grid_cells(
            rows[:, [0, 2]].T.ravel(), rows[:, [1, 3]].T.ravel(), float(size)
        )
        cells[size] = found.reshape(2, -1).T
    return cells, grids


def new_york() -> Chain:
    """Return trips between zones that are met five times or more."""
    with gzip.open(DATA / "taxi/nyc_zones_2019-03.csv.gz", "rt") as file:
        rows = [(row["pickup_zone"], row["dropoff_zone"]) for row in csv.DictReader(file)]
    ends = np.array([row for row in rows if all(row)])
    names, counts = np.unique(ends, return_counts=True)
    names = names[counts >= 5]
    places = np.searchsorted(names, ends[np.isin(ends, names).all(axis=1)])
    none = np.arange(len(names))
    return Chain(*places.T, none * ROWS * 2, none)


def colours(labels: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (colour of each cluster, its share of the trip ends); the busiest has the first."""
    shares = np.bincount(labels, ends) / ends.sum()
    palette = np.array([colormaps["tab20"](i) for i in [*range(0, 20, 2), *range(1, 20, 2)]])
    return palette[np.argsort(np.argsort(-shares))], shares


def draw(axes, grid: trips.Grid, moves: Chain, labels: np.ndarray, title: str) -> None:
    """Draw a partition with its legend and the names of places."""
    down, across = grid.steps
    square = np.array([[0, 0], [across, 0], [across, down], [0, down]])
    ends = np.bincount(moves.origins, minlength=moves.n_states)
    ends = ends + np.bincount(moves.destinations, minlength=moves.n_states)
    faces, shares = colours(labels, ends)
    corners = grid.corners(moves.squares)[:, ::-1]
    axes.add_collection(
        PolyCollection(
            corners[:, None] + square, facecolors=faces[labels[moves.states]], edgecolors="none"
        )
    )
    for rank, cluster in enumerate(np.argsort(-shares), start=1):
        axes.plot([], [], "s", color=faces[cluster], label=f"{rank}: {shares[cluster]:.1%}")
    for name, (latitude, longitude) in PLACES.items():
        axes.plot(longitude, latitude, "k.", ms=3)
        axes.annotate(
            name,
            (longitude, latitude),
            (2, 2),
            textcoords="offset points",
            fontsize=7.5,
            bbox={"boxstyle": "round,pad=0.1", "fc": "w", "ec": "none", "alpha": 0.6},
        )
    axes.set(xlim=(-70.83, -70.48), ylim=(-33.66, -33.31), xticks=[], yticks=[])
    axes.set_title(title, fontsize=9)
    axes.set_aspect(1 / np.cos(np.radians(-33.45)))
    axes.legend(
        frameon=False,
        fontsize=7,
        title="trip ends",
        title_fontsize=7,
        loc="upper left",
        bbox_to_anchor=(1, 1),
        handletextpad=0.1,
        borderpad=0,
    )


def main() -> None:
    """Choose on one half of Santiago's trips, report and draw the other, write the numbers."""
    cells, grids = santiago()
    first = np.random.default_rng(0).random(len(cells[SIZES[0]])) < 0.5
    best, tried = choose({size: both[first] for size, both in cells.items()})
    numbers: dict = {"chosen": vars(best), "tried on the first half": tried}
    figure = Figure(figsize=(12.6, 8.2), layout="constrained")
    grid_axes = figure.subplots(2, len(RANKS))
    for row, (name, setting) in enumerate({"as in the paper": PAPER, "chosen": best}.items()):
        moves = chain(cells[setting.size][~first], setting)
        found = judge(moves, setting.scaling)[setting.side]
        for axes, (rank, one) in zip(grid_axes[row], found.items(), strict=True):
            share = one["contiguity"]["share"]
            title = f"{name}, r = {rank}: {share:.0%} of neighbours agree"
            draw(axes, grids[setting.size], moves, one["labels"], title)
        numbers[f"second half, {name}"] = {"trips": len(moves.origins)} | report(
            moves, setting, found
        )
    numbers["rivals"] = rivals(moves)
    numbers["New York"] = {}
    for scaling in SCALINGS:
        zones, setting = new_york(), Setting(0, 0, scaling, "both")
        found = judge(zones, scaling)["both"]
        numbers["New York"][scaling] = report(zones, setting, found)
    save_figure(figure, "002-5", dpi=90)
    save("002-5", numbers)


if __name__ == "__main__":
    main()
