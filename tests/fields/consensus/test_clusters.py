"""Clusters of the atoms of replicates, and how sure they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import silhouette_score

from atomstream.fields.consensus.clusters import cluster


def copies(n_replicates=12, spread=0.01, seed=0, strange=0):
    rng = np.random.default_rng(seed)
    atoms = rng.random((3, 8))
    found = np.array(
        [
            (atoms + spread * rng.random(atoms.shape))[rng.permutation(3)] * rng.uniform(0.2, 3)
            for _ in range(n_replicates)
        ]
    )
    for number in range(strange):
        found[number, number % 3] = np.eye(8)[number % 8]
    return atoms / np.linalg.norm(atoms, axis=1, keepdims=True), found


def test_every_cluster_holds_one_atom_of_each_replicate(room):
    atoms, found = copies()
    clusters = cluster(found)
    assert (np.sort(clusters.labels, axis=1) == np.arange(3)).all()
    cosines = atoms @ clusters.atoms.T
    room.share(cosines.max(axis=1).min(), at_least=0.999)
    assert_allclose(clusters.share, 1)
    room.share(clusters.cosines.min(), at_least=0.99)


def test_atoms_are_the_medians_of_their_cluster():
    _, found = copies(n_replicates=7)
    clusters = cluster(found)
    unit = found / np.linalg.norm(found, axis=2, keepdims=True)
    for k in range(3):
        expected = np.median(unit[clusters.labels == k], axis=0)
        expected /= np.linalg.norm(expected)
        assert_allclose(clusters.atoms[k], expected)


def test_strange_atoms_are_left_out_and_lower_the_share(room):
    atoms, found = copies(n_replicates=20, strange=3)
    clusters = cluster(found)
    assert (clusters.labels == -1).sum() == 3
    room.share((atoms @ clusters.atoms.T).max(axis=1).min(), at_least=0.999)
    assert clusters.share.sum() == pytest.approx(57 / 20)


def test_a_cluster_split_in_two_is_had_once():
    _, found = copies(n_replicates=10, spread=0.02)
    rng = np.random.default_rng(1)
    noise = np.eye(8)[rng.integers(0, 8, 10)] + 0.3 * rng.random((10, 8))
    clusters = cluster(np.concatenate([found, noise[:, None]], axis=1))
    assert clusters.share.sum() < 3.5


def test_measures_are_those_of_the_textbooks():
    _, found = copies(spread=0.8)
    clusters = cluster(found)
    unit = (found / np.linalg.norm(found, axis=2, keepdims=True)).reshape(-1, 8)
    labels = clusters.labels.ravel()
    kept = labels >= 0
    assert clusters.silhouette == pytest.approx(silhouette_score(unit[kept], labels[kept]))
    together = squareform(pdist(unit))
    tree = linkage(squareform(together, checks=False), method="average")
    assert clusters.cophenetic == pytest.approx(cophenet(tree, pdist(unit))[0])


def test_atoms_that_repeat_each_other_leave_no_cluster_empty():
    clusters = cluster(np.ones((5, 3, 4)))
    assert_allclose(clusters.atoms, 0.5)
    assert_allclose(clusters.share, 1)


def test_one_atom_and_atoms_of_no_length_are_no_trouble():
    _, found = copies()
    assert cluster(found[:, :1]).atoms.shape == (1, 8)
    found[0, 0] = 0
    assert np.isfinite(cluster(found).atoms).all()
