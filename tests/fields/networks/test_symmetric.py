"""Symmetric factors of networks, from all edges and from edges as they come."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from atomstream import networks, symmetric_nmf
from atomstream.fields.networks.symmetric import SymmetricFactors

TRUTH = np.repeat(range(4), 60)


def blocks(seed):
    chances = np.full((4, 4), 0.03) + 0.2 * np.eye(4)
    return nx.stochastic_block_model([60] * 4, chances, seed=seed)


def partition(found):
    places = [list(found.nodes).index(node) for node in range(240)]
    return found.memberships[places].argmax(axis=1)


def test_a_round_is_that_of_the_whole_matrix():
    """Poisson communities by their formulas on a dense matrix, every entry written out."""
    rng = np.random.default_rng(0)
    A = np.triu(rng.poisson(1.0, (7, 7)), 1).astype(float)
    A = A + A.T
    start = SymmetricFactors(range(7), rng.random((7, 3)), seed=1)
    H = start.values
    parts = H[:, None] * H
    parts /= parts.sum(axis=2, keepdims=True)
    counts = (A[:, :, None] * parts).sum(axis=1) / A.sum()
    edges = sp.triu(sp.coo_array(A), 1, format="coo")
    found, _ = start.after(np.stack([edges.row, edges.col]), edges.data)
    assert_allclose(found, counts, rtol=1e-12)
    after = replace(start, counts=found).values
    assert_allclose(after, counts / np.sqrt(counts.sum(axis=0)), rtol=1e-12)
    assert (after @ after.T).sum() == pytest.approx(1)


def test_rounds_never_raise_the_divergence():
    graph = networks.Network.of(blocks(0))
    edges = sp.triu(graph.out, 1, format="coo")
    ends, found = np.stack([edges.row, edges.col]), SymmetricFactors([], np.zeros((0, 4)), seed=3)
    found = found.with_nodes(range(240))
    likelihoods = []
    for _ in range(60):
        counts, likelihood = found.after(ends, edges.data)
        likelihoods.append(likelihood)
        found = replace(found, counts=counts)
    assert (np.diff(likelihoods[1:]) >= -1e-12).all()
    assert likelihoods[-1] > likelihoods[1] + 0.1


def test_planted_communities_are_found_at_the_end(seeds, room):
    for seed in seeds:
        found = symmetric_nmf(blocks(seed), 4, random_state=seed)
        room.share(adjusted_rand_score(TRUTH, partition(found)), at_least=0.9)


def test_planted_communities_are_found_in_a_long_stream(seeds, room):
    for seed in seeds:
        edges, rng = np.array(blocks(seed).edges()), np.random.default_rng(seed)
        stream = (edges[rng.integers(len(edges), size=200)] for _ in range(1000))
        found = symmetric_nmf(stream, 4, random_state=seed)
        room.share(adjusted_rand_score(TRUTH, partition(found)), at_least=0.8)


def test_one_factor_is_the_degrees():
    graph = nx.karate_club_graph()
    found = symmetric_nmf(nx.Graph(graph.edges), 1, random_state=0)
    degrees = np.array([graph.degree(node) for node in found.nodes])
    first, last = graph.degree(0), graph.degree(33)
    assert_allclose(found.values[:, 0], degrees / degrees.sum(), rtol=1e-12)
    pairs = [(0, 33), ("nobody", 0)]
    assert_allclose(found.predict(pairs), [first * last / degrees.sum() ** 2, 0])


def test_a_stream_may_be_cut_and_go_on():
    rng = np.random.default_rng(0)
    batches = [rng.integers(12 + 4 * step, size=(30, 2)) for step in range(6)]
    whole = symmetric_nmf(batches, 3, random_state=5)
    first = symmetric_nmf(batches[:2], 3, random_state=5)
    found = symmetric_nmf(iter(batches[2:]), start=first)
    assert_array_equal(found.counts, whole.counts)
    assert (list(found.nodes), found.mass, found.n_steps) == (list(whole.nodes), whole.mass, 6)
    # Weights count as repetitions, loops not at all.
    weighted = [(np.array([[0, 1], [1, 2], [3, 3]]), [2.0, 1.0, 9.0])]
    repeated = [[(0, 1), (0, 1), (1, 2)]]
    ones, twos = (symmetric_nmf(each, 2, random_state=1) for each in (weighted, repeated))
    assert_allclose(ones.counts[:3], twos.counts, rtol=1e-12)
    assert ones.mass == twos.mass == 3


def test_batches_at_fixed_factors_add_up():
    start = SymmetricFactors(range(9), np.random.default_rng(0).random((9, 2)))
    ends = np.random.default_rng(1).integers(9, size=(2, 40))
    weights = np.random.default_rng(2).random(40)
    parts = [start.after(ends[:, rows], weights[rows])[0] for rows in (slice(15), slice(15, 40))]
    total = parts[0] * weights[:15].sum() + parts[1] * weights[15:].sum()
    assert_allclose(total / weights.sum(), start.after(ends, weights)[0], rtol=1e-12)


@pytest.mark.parametrize("form", [nx.to_numpy_array, nx.to_scipy_sparse_array, networks.Network.of])
def test_networks_in_any_form_are_the_same(form):
    graph = nx.Graph(nx.karate_club_graph().edges)
    expected = symmetric_nmf(graph, 3, random_state=0)
    assert_array_equal(symmetric_nmf(form(graph), 3, random_state=0).counts, expected.counts)
    frame = pd.DataFrame(list(graph.edges), columns=["source", "target"])
    assert len(symmetric_nmf(frame, 3, random_state=0).nodes) == 34


def test_what_is_no_edge_is_refused():
    with pytest.raises(ValueError, match=r"must be of shape \(n_edges, 2\), got \(2, 3\)"):
        symmetric_nmf([np.ones((2, 3))])
    with pytest.raises(ValueError, match="finite and not negative"):
        symmetric_nmf([(np.array([[0, 1]]), [-1.0])])
    with pytest.raises(ValueError, match="no edges between different nodes"):
        symmetric_nmf(np.eye(3))
    with pytest.raises(ValueError, match="n_components"):
        symmetric_nmf([[(0, 1)]], 0)
