"""Random walks against their matrices of transition probabilities."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream.samplers import RandomWalk


def matrix(n=7, seed=0):
    weights = np.random.default_rng(seed).random((n, n)) ** 3
    weights[weights < 0.05] = 0
    np.fill_diagonal(weights, 0.1)
    return weights


def test_walks_make_the_steps_that_are_said():
    """Chi-square on all pairs of consecutive nodes, within 4 deviations; rows are multinomial."""
    chain = RandomWalk(matrix())
    expected = chain.transitions().toarray()
    assert_allclose(expected, matrix() / matrix().sum(axis=1, keepdims=True), atol=1e-15)
    rng = np.random.default_rng(0)
    found, last = chain.run(rng, chain.init(rng), 200_000)
    counts = np.zeros((7, 7))
    np.add.at(counts, (found[:-1], found[1:]), 1)
    assert (counts[expected == 0] == 0).all()
    wanted = counts.sum(axis=1, keepdims=True) * expected
    chi = ((counts - wanted)[expected > 0] ** 2 / wanted[expected > 0]).sum()
    freedom = (expected > 0).sum() - 7
    assert abs(chi - freedom) < 4 * np.sqrt(2 * freedom)
    assert last[0] == found[-1]


def test_thinned_walks_make_powers_of_the_steps():
    chain, rng = RandomWalk(matrix()), np.random.default_rng(0)
    found, _ = chain.run(rng, chain.init(rng, 3), 100_000, 3)
    shares = np.bincount(found, minlength=7) / len(found)
    values, vectors = np.linalg.eig(chain.transitions().toarray().T)
    law = np.real(vectors[:, np.argmax(values.real)])
    assert_allclose(shares, law / law.sum(), atol=0.01)


def test_a_saved_walk_goes_on_exactly():
    chain, rng = RandomWalk(nx.karate_club_graph()), np.random.default_rng(0)
    whole, _ = chain.run(np.random.default_rng(0), chain.init(np.random.default_rng(1)), 100)
    first, middle = chain.run(rng, chain.init(np.random.default_rng(1)), 40)
    second, _ = chain.run(rng, middle, 60)
    assert_array_equal(whole, np.concatenate([first, second]))
    after, _ = chain.step(rng, middle)
    assert after.shape == (1,)


def test_walks_that_cannot_mix_say_so():
    with pytest.warns(UserWarning, match="2 strongly connected"):
        RandomWalk(np.array([[1.0, 1.0], [0.0, 1.0]]))
    with pytest.warns(UserWarning, match="bipartite"):
        RandomWalk(nx.path_graph(4))
    with pytest.raises(ValueError, match="No edge leaves node 1"):
        RandomWalk(np.array([[0.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(ValueError, match="number of a node below 34"):
        RandomWalk(nx.karate_club_graph()).init(np.random.default_rng(0), 50)
