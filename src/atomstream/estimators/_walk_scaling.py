"""Weights that turn the joint distribution F of a transition into D^-1/2 F D^-1/2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from atomstream.updates.hebbian import Moves


def rarity(numbers: NDArray, weights: NDArray, before: NDArray, min_visits: float) -> NDArray:
    """Return how many times rarer each visited state is than the average one, so far.

    Visits are counted as they happen, so that it does not matter where a walk is cut.

    Parameters
    ----------
    numbers : ndarray of int of shape (n,)
        States in the order of the visits.
    weights : ndarray of shape (n,)
        Weights of the visits.
    before : ndarray of shape (n_states,)
        Visits of each state before these.
    min_visits : float
        States visited less often count as visited so often.

    Returns
    -------
    ndarray of shape (2, n)
        Mean number of visits over that of the state, and the number of states visited so far.
    """
    order = np.argsort(numbers, kind="stable")
    state, weight = numbers[order], weights[order]
    first = np.r_[True, state[1:] != state[:-1]]
    summed = np.cumsum(weight)
    # The sum at the first visit of each state, without that visit, is what other states had.
    others = (summed - weight)[first][np.cumsum(first) - 1]
    visits, new = np.empty(len(order)), np.empty(len(order))
    visits[order] = before[state] + summed - others
    new[order] = first & (before[state] == 0)
    n_states = np.count_nonzero(before) + np.cumsum(new)
    total = before.sum() + np.cumsum(weights)
    return np.array([total / n_states / np.maximum(visits, min_visits), n_states])


def scaled(moves: Moves, tails: NDArray, heads: NDArray) -> Moves:
    """Return transitions with weights divided by the root of the frequencies of their two ends.

    Both weights and masses are also divided by the mean frequency, so that steps are as long as
    those of states that are visited alike.

    Parameters
    ----------
    moves : Moves
    tails, heads : ndarray of shape (2, n)
        What `rarity` returns of the origins and of the destinations.
    """
    rare, n_states = np.sqrt(tails * heads)
    return moves._replace(weights=moves.weights * rare, masses=moves.masses / n_states)
