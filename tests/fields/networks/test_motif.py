"""Motif chains against enumeration of all homomorphisms of small networks."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from atomstream.fields.networks import motifs
from atomstream.fields.networks import network as network_module
from atomstream.fields.networks.chains import glauber
from atomstream.fields.networks.network import Network
from atomstream.samplers import (
    MotifGlauber,
    MotifPivot,
    homomorphism_density,
    homomorphisms,
)

MOTIFS = {
    "edge": motifs.path(2),
    "path": motifs.path(3),
    "star": motifs.star(4),
    "triangle": motifs.cycle(3),
    "wedge": motifs.wedge(1),
    "weighted": motifs.Motif(((0, 1, 2.0), (1, 2, 0.5), (0, 2, 1.0)), 3),
    "loop": motifs.Motif(((0, 0, 1.0), (0, 1, 1.0)), 2),
    "apart": motifs.Motif(((0, 1, 1.0),), 3),
}


def networks():
    rng = np.random.default_rng(0)
    weights = rng.random((6, 6)) * (rng.random((6, 6)) < 0.7)
    np.fill_diagonal(weights, [0.5, 0, 0.7, 0, 1, 0.2])
    undirected = weights + weights.T
    return {
        "directed": (weights, None),
        "undirected": (undirected, None),
        "with node weights": (undirected, rng.random(6) + 0.1),
    }


NETWORKS = networks()


@pytest.mark.slow
@pytest.mark.parametrize("motif", MOTIFS)
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.cover(2)
def test_glauber_moves_are_in_detailed_balance_with_the_law_of_all_copies(network, motif):
    matrix, node_weights = NETWORKS[network]
    chain = MotifGlauber(matrix, MOTIFS[motif], node_weights)
    states, weights = homomorphisms(matrix, MOTIFS[motif], node_weights)
    pi, place = weights / weights.sum(), {tuple(state): i for i, state in enumerate(states)}
    k = states.shape[1]
    kernel = np.zeros((len(states), len(states)))
    for i, state in enumerate(states):
        for node in range(k):
            candidates, chances = chain.conditional(state, node)
            assert_allclose(chances.sum(), 1)
            for v, chance in zip(candidates, chances, strict=True):
                after = state.copy()
                after[node] = v
                kernel[i, place[tuple(after)]] += chance / k
    assert_allclose(kernel.sum(axis=1), 1, atol=1e-12)
    assert_allclose(pi[:, None] * kernel, (pi[:, None] * kernel).T, atol=1e-12)
    assert_allclose(pi @ kernel, pi, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("motif", MOTIFS)
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("dense", [0.0, 2.0], ids=["as a matrix", "as lists"])
@pytest.mark.cover(4)
def test_runs_make_the_moves_that_are_said(network, motif, dense, monkeypatch):
    """Chi-square on the moves from one copy, within 4 deviations."""
    monkeypatch.setattr(glauber, "DENSE", dense)
    matrix, node_weights = NETWORKS[network]
    chain = MotifGlauber(matrix, MOTIFS[motif], node_weights)
    rng = np.random.default_rng(0)
    begin = chain.init(rng)
    expected: dict = {}
    for node in range(len(begin)):
        for v, chance in zip(*chain.conditional(begin, node), strict=True):
            after = tuple(np.where(np.arange(len(begin)) == node, v, begin))
            expected[after] = expected.get(after, 0) + chance / len(begin)
    n = 10_000
    counts = dict.fromkeys(expected, 0)
    for _ in range(n):
        counts[tuple(chain.step(rng, begin)[0])] += 1
    likely = [after for after, chance in expected.items() if n * chance > 5]
    chi = sum(
        (counts[after] - n * expected[after]) ** 2 / (n * expected[after]) for after in likely
    )
    freedom = max(len(likely) - 1, 1)
    assert abs(chi - freedom) < 4 * np.sqrt(2 * freedom) + 1


def test_long_runs_visit_copies_as_often_as_the_law_says():
    matrix, node_weights = NETWORKS["with node weights"]
    chain = MotifGlauber(matrix, motifs.path(3), node_weights)
    states, weights = homomorphisms(matrix, motifs.path(3), node_weights)
    rng = np.random.default_rng(0)
    found, _ = chain.run(rng, chain.init(rng), 200_000, 3)
    place = {tuple(state): i for i, state in enumerate(states)}
    visits = np.array([place[tuple(state)] for state in found])
    shares = np.array(
        [np.bincount(part, minlength=len(states)) / len(part) for part in np.split(visits, 40)]
    )
    error = shares.std(axis=0, ddof=1) / np.sqrt(40)
    assert (np.abs(shares.mean(axis=0) - weights / weights.sum()) < 5 * error + 1e-5).all()


def test_densities_are_means_over_all_maps():
    matrix, node_weights = NETWORKS["directed"]
    for motif in (motifs.path(3), motifs.cycle(3)):
        power = np.linalg.matrix_power(
            matrix, 2 if motif.size == 3 and len(motif.edges) == 2 else 3
        )
        total = power.sum() if len(motif.edges) == 2 else np.trace(power)
        assert_allclose(homomorphism_density(matrix, motif, node_weights), total / 6**3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_refused_proposals_end_in_the_conditional(seed):
    """Where one candidate is a thousand times less likely to be refused, tries run out."""
    rng = np.random.default_rng(seed)
    weights = 1e-3 * rng.random((7, 7)) + np.diag([0.0, 0, 0, 0, 0, 0, 1.0])
    weights[6, :5] = 1.0
    chain = MotifGlauber(weights, motifs.path(3))
    begin = np.array([0, 1, 2])
    candidates, chances = chain.conditional(begin, 1)
    moved = np.array([chain.step(rng, begin)[0] for _ in range(30_000)])
    at_1 = moved[(moved[:, 0] == 0) & (moved[:, 2] == 2) & (moved[:, 1] != 1), 1]
    counts = np.bincount(at_1, minlength=7)[candidates]
    expected = np.where(candidates == 1, 0, chances)
    expected *= len(at_1) / expected.sum()
    spread = np.sqrt(np.maximum(expected, 1))
    assert (np.abs(counts - expected) < 5 * spread).all()


SYMMETRIC = {
    "directed": NETWORKS["directed"][0],
    "undirected": NETWORKS["undirected"][0],
    "all edges alike": (NETWORKS["undirected"][0] > 0) * 0.5,
}


@pytest.mark.parametrize("most_bits", [0, 1 << 20], ids=["lists", "bits"])
@pytest.mark.parametrize("matrix", SYMMETRIC.values(), ids=SYMMETRIC)
def test_patches_are_the_weights_between_the_nodes(matrix, most_bits, monkeypatch):
    monkeypatch.setattr(network_module, "MOST_BITS", most_bits)
    chain, rng = MotifGlauber(matrix, motifs.path(3)), np.random.default_rng(0)
    states, _ = chain.run(rng, chain.init(rng), 50)
    expected = np.array([matrix[np.ix_(state, state)].ravel() for state in states])
    assert_array_equal(chain.patches(states), expected)


def test_chains_that_cannot_reach_everything_say_so():
    with pytest.warns(UserWarning, match="bipartite"):
        MotifGlauber(nx.grid_2d_graph(4, 4), motifs.path(3))
    with pytest.warns(UserWarning, match="2 components"):
        MotifGlauber(nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(3)), motifs.path(3))


def test_starts_lie_in_the_support_or_are_refused():
    chain = MotifGlauber(nx.karate_club_graph(), motifs.cycle(3))
    state = chain.init(np.random.default_rng(0))
    assert_array_equal(chain.init(np.random.default_rng(1), state), state)
    with pytest.raises(ValueError, match="is no copy of the motif"):
        chain.init(np.random.default_rng(0), [0, 0, 0])
    with pytest.raises(ValueError, match="3 numbers of nodes below 34"):
        chain.init(np.random.default_rng(0), [0, 1, 99])
    with pytest.raises(ValueError, match="No copy of the motif of 3 nodes was found"):
        MotifGlauber(sp.csr_array(np.triu(np.ones((5, 5)), 1)), motifs.cycle(3)).init(
            np.random.default_rng(0)
        )


def test_a_network_is_the_same_from_whatever_holds_it(tmp_path):
    graph = nx.karate_club_graph()
    matrix = nx.to_scipy_sparse_array(graph, dtype=float)
    edges = [(str(a), str(b), w["weight"]) for a, b, w in graph.edges(data=True)]
    file = tmp_path / "edges.txt"
    file.write_text("# karate\n" + "\n".join(f"{a},{b}, {w}" for a, b, w in edges) + "\n")
    for data in (matrix, matrix.toarray(), graph, file, pd.DataFrame(edges)):
        network = Network.of(data)
        order = [int(label) for label in network.labels]
        assert_array_equal(network.out.toarray(), matrix.toarray()[np.ix_(order, order)])
        assert network.undirected
    assert not Network.of(nx.DiGraph([(0, 1)])).undirected


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (np.zeros((3, 3)), "has no edges"),
        (np.ones((2, 3)), "must be square"),
        (-np.ones((2, 2)), "finite and not negative"),
        (np.full((2, 2), np.nan), "finite and not negative"),
    ],
)
def test_what_is_no_network_is_refused(data, sentence):
    with pytest.raises(ValueError, match=sentence):
        Network.of(data)


def test_lines_that_are_no_edges_are_named(tmp_path):
    for line in ("1", "1 2 x", "1 2 3 4"):
        file = tmp_path / "edges.txt"
        file.write_text(f"0 1\n{line}\n")
        with pytest.raises(ValueError, match="line 2"):
            Network.of(file)


def test_what_is_no_motif_is_refused():
    for wrong in (np.ones((2, 3)), -np.ones((2, 2))):
        with pytest.raises(ValueError, match="A motif is a square matrix"):
            motifs.Motif.of(wrong)
    with pytest.raises(ValueError, match="is not an edge of a motif of 2 nodes"):
        motifs.Motif(((0, 2, 1.0),), 2)
    with pytest.raises(ValueError, match="each of its edges once"):
        motifs.Motif(((0, 1, 1.0), (0, 1, 2.0)), 2)
    assert_array_equal(
        motifs.Motif.of(motifs.wedge(2).adjacency()).adjacency(), motifs.wedge(2).adjacency()
    )


TREES = {name: MOTIFS[name] for name in ("edge", "path", "star", "wedge")} | {
    "inward": motifs.Motif(((1, 0, 1.0), (2, 1, 2.0)), 3)
}


def root_step(chain, v):
    """Return where the root of a pivot chain may go (itself last), and the probabilities."""
    # Metropolis-Hastings with a neighbour as proposal: a walk meets nodes in proportion to their
    # degrees, so the target over the degree is compared. What is refused stays.
    starts, neighbours, ratio = chain._walk
    near = neighbours[starts[v] : starts[v + 1]]
    chances = np.minimum(1, ratio[near] / ratio[v]) / len(near)
    return np.append(near, v), np.append(chances, 1 - chances.sum())


@pytest.mark.parametrize("motif", TREES)
@pytest.mark.parametrize("network", NETWORKS)
def test_the_root_of_the_pivot_chain_has_the_law_of_all_copies(network, motif):
    matrix, node_weights = NETWORKS[network]
    chain = MotifPivot(matrix, TREES[motif], node_weights)
    states, weights = homomorphisms(matrix, TREES[motif], node_weights)
    pi = np.bincount(states[:, 0], weights, minlength=6) / weights.sum()
    assert_allclose(chain.root_weights / chain.root_weights.sum(), pi, atol=1e-12)
    kernel = np.zeros((6, 6))
    for v in np.flatnonzero(pi):
        np.add.at(kernel[v], *root_step(chain, v))
    flow = pi[:, None] * kernel
    assert_allclose(kernel[pi > 0].sum(axis=1), 1, atol=1e-12)
    assert_allclose(flow, flow.T, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("motif", TREES)
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.cover(2)
def test_pivot_chains_visit_copies_as_often_as_the_law_says(network, motif):
    matrix, node_weights = NETWORKS[network]
    chain = MotifPivot(matrix, TREES[motif], node_weights)
    states, weights = homomorphisms(matrix, TREES[motif], node_weights)
    rng = np.random.default_rng(0)
    found, _ = chain.run(rng, chain.init(rng), 200_000)
    place = {tuple(state): i for i, state in enumerate(states)}
    visits = np.array([place[tuple(state)] for state in found])
    shares = np.array(
        [np.bincount(part, minlength=len(states)) / len(part) for part in np.split(visits, 40)]
    )
    error = shares.std(axis=0, ddof=1) / np.sqrt(40)
    assert (np.abs(shares.mean(axis=0) - weights / weights.sum()) < 5 * error + 5e-5).all()


def test_the_approximate_pivot_chain_has_another_law():
    graph = nx.lollipop_graph(5, 4)
    exact, approximate = (
        MotifPivot(graph, motifs.path(3), approximate=flag) for flag in (False, True)
    )
    rng, shares = np.random.default_rng(0), {}
    for name, chain in (("exact", exact), ("approximate", approximate)):
        found, _ = chain.run(rng, chain.init(rng), 100_000)
        shares[name] = np.bincount(found[:, 0], minlength=9) / len(found)
    assert_allclose(shares["exact"], exact.root_weights / exact.root_weights.sum(), atol=0.01)
    assert_allclose(shares["approximate"], 1 / 9, atol=0.01)
    assert np.abs(shares["exact"] - shares["approximate"]).sum() > 0.1


@pytest.mark.parametrize("thin", [1, 3])
def test_copies_grown_side_by_side_are_those_of_single_steps(thin):
    graph = nx.powerlaw_cluster_graph(40, 3, 0.3, seed=0)
    chain = MotifPivot(graph, motifs.star(4))
    rngs = [np.random.default_rng(1) for _ in range(2)]
    begin = chain.init(np.random.default_rng(0))
    n = 700  # more than one block, and no multiple of it
    together, last = chain.run(rngs[0], begin, n, thin)
    state = begin
    for found in together:
        for _ in range(thin):
            state, _ = chain.step(rngs[1], state)
        assert_array_equal(found, state)
    assert_array_equal(last, state)
    assert rngs[0].random() == rngs[1].random()


def test_the_pivot_chain_is_for_trees():
    for motif in (
        motifs.cycle(3),
        MOTIFS["loop"],
        MOTIFS["apart"],
        motifs.Motif(((0, 1, 1.0), (1, 0, 1.0)), 2),
    ):
        with pytest.raises(ValueError, match="a motif that is a tree"):
            MotifPivot(nx.karate_club_graph(), motif)
    with pytest.raises(ValueError, match="holds no copy"):
        MotifPivot(sp.csr_array(np.triu(np.ones((4, 4)), 1)), motifs.path(6))
