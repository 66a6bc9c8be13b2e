"""Simple partitions of the places of a map that trips go between, and what a partition tells."""

from __future__ import annotations

from typing import Protocol

import networkx as nx
import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import mutual_info_score


class Trips(Protocol):
    """Trips between states, and the state of each square of a map."""

    origins: np.ndarray
    destinations: np.ndarray
    states: np.ndarray
    n_states: int


def places(moves: Trips, squares: np.ndarray, rank: int) -> np.ndarray:
    """Return clusters of the centres of states, weighted by their trip ends.

    ``squares`` are row and column of each square.
    """
    points = np.column_stack([np.bincount(moves.states, side) for side in squares.T])
    points = points / np.bincount(moves.states)[:, None]
    ends = np.bincount(np.r_[moves.origins, moves.destinations], minlength=moves.n_states)
    return KMeans(rank, n_init=10, random_state=0).fit(points, sample_weight=ends).labels_


def communities(moves: Trips, rank: int) -> np.ndarray:
    """Return communities of the graph of trips."""
    m, ends = moves.n_states, (moves.origins, moves.destinations)
    F = sp.coo_array((np.ones(len(moves.origins)), ends), (m, m)).tocsr()
    graph, labels = nx.from_scipy_sparse_array(F + F.T), np.empty(m, int)
    found = nx.community.greedy_modularity_communities(graph, "weight", cutoff=rank, best_n=rank)
    for label, members in enumerate(found):
        labels[list(members)] = label
    return labels


def information(halves: list[np.ndarray], parts: list[Trips]) -> float:
    """Return what the area of origin says of that of destination, for trips not learned from."""
    given = zip(halves, parts[::-1], strict=True)
    return float(
        np.mean(
            [mutual_info_score(labels[t.origins], labels[t.destinations]) for labels, t in given]
        )
    )
