"""Clusters of the atoms of many replicates: which ones return, and how surely."""

from dataclasses import dataclass

import numpy as np
import scipy  # what is in it is loaded at its first use
from numpy.typing import NDArray

from atomstream.base import unit
from atomstream.dictionaries.matching import assigned

NEAREST = 0.3  # share of the replicates whose nearest atoms say how dense it is around one
# Mean distance to them of an atom of length one beyond which it is left out.
MAX_MEAN_DISTANCE = 0.5
SAME = 0.9  # cosine from which two atoms count as the same
NEAR_COSINE = 1 - MAX_MEAN_DISTANCE**2 / 2  # the cosine at that distance
DECIMALS = 9  # to which atoms that are the same agree
ALIKE = 0.5  # cosine from which an atom speaks for another one


@dataclass(frozen=True)
class Clusters:
    """Atoms of replicates put into as many clusters as a replicate has atoms.

    Attributes
    ----------
    atoms : ndarray of shape (n_components, n_features)
        The median of each cluster, of Euclidean length one.
    labels : ndarray of int of shape (n_replicates, n_components)
        The cluster of each atom; -1 where it was left out.
    signs : ndarray of shape (n_replicates, n_components)
        -1 where the atom points against its cluster, else 1.
    share : ndarray of shape (n_components,)
        Share of the replicates whose partner of the median, one-to-one, is within a cosine of 0.9.
    cosines : ndarray of shape (n_replicates, n_components)
        Cosine of each median with its partner, one-to-one, in each replicate.
    silhouette : float
        Mean over all atoms that were not left out; NaN for a single cluster.
    cophenetic : float
        Correlation of the distances of all atoms with those in their tree of average linkage.
    """

    atoms: NDArray
    labels: NDArray
    signs: NDArray
    share: NDArray
    cosines: NDArray
    silhouette: float
    cophenetic: float


def cluster(found: NDArray, voting: NDArray | None = None) -> Clusters:
    """Cluster the atoms of replicates by k-means on the sphere, without those that stand alone.

    Parameters
    ----------
    found : ndarray of shape (n_replicates, n_components, n_features)
        Atoms of any length. If any entry is negative, signs are free.
    voting : ndarray of bool of shape (n_replicates,), optional
        The replicates whose atoms make the clusters, by default all. Those of the others join the
        cluster of the median that they are near to, and shares count them.

    References
    ----------
    Kotliar et al. (2019), "Identifying gene expression programs of cell-type identity and cellular
    activity with single-cell RNA-Seq", methods: consensus by clusters of filtered components;
    Brunet et al. (2004), "Metagenes and molecular pattern discovery using matrix factorization",
    the cophenetic correlation.
    """
    n_replicates, n_components, n_features = found.shape
    rows = unit(found.reshape(-1, n_features).astype(np.float64))
    cosines = rows @ rows.T
    signs = _signs(cosines) if (found < 0).any() else np.ones(len(rows))
    rows = rows * signs[:, None]
    cosines *= signs * signs[:, None]
    # |a - b|^2 = 2 - 2 cos of rows of length one; rounding may leave it below zero.
    distances = np.sqrt(np.maximum(2 - 2 * cosines, 0))
    np.fill_diagonal(distances, 0)
    votes = np.ones(n_replicates, bool) if voting is None else voting
    own = np.flatnonzero(votes.repeat(n_components))
    n_votes, pairs = int(votes.sum()), np.ix_(own, own)
    dense = _dense_enough(distances[pairs], n_votes, n_components)
    kept, labels = own[dense], np.full(len(rows), -1)
    first = own[_returning(cosines[pairs], dense, n_votes, n_components)]
    labels[kept] = _grouped(rows[kept], rows[first])
    medians = [np.median(rows[labels == k], axis=0) for k in range(n_components)]
    atoms = unit(np.array(medians))
    near = _matched((rows @ atoms.T).reshape(n_replicates, n_components, n_components))
    others = np.flatnonzero(~votes.repeat(n_components))
    with_atoms = rows[others] @ atoms.T
    labels[others] = np.where(with_atoms.max(axis=1) >= NEAR_COSINE, with_atoms.argmax(axis=1), -1)
    return Clusters(
        atoms,
        labels.reshape(n_replicates, n_components),
        signs.reshape(n_replicates, n_components),
        (near >= SAME).mean(axis=0),
        near,
        _silhouette(distances[np.ix_(kept, kept)], labels[kept]),
        _cophenetic(distances),
    )


def _matched(cosines: NDArray) -> NDArray:
    """Return the cosine of each consensus atom with its partner in each replicate.

    One-to-one: where a cluster is split in two, a replicate has one of the halves.
    """
    found = np.zeros((len(cosines), cosines.shape[2]))
    for near, table in zip(found, cosines, strict=True):
        theirs, ours = assigned(table)
        near[ours] = table[theirs, ours]
    return found


def _signs(cosines: NDArray) -> NDArray:
    """Return signs that make atoms point the way of those they are most like.

    One atom after the other, the one that is nearest to any before it first, takes the sign of its
    nearest.
    """
    like = np.abs(cosines)
    signs, left = np.zeros(len(cosines)), np.ones(len(cosines), bool)
    nearest, best = np.zeros(len(cosines), np.int64), np.full(len(cosines), -1.0)
    at = 0
    signs[0] = 1
    for _ in range(len(cosines) - 1):
        left[at] = False
        nearer = left & (like[at] > best)
        nearest[nearer], best[nearer] = at, like[at, nearer]
        at = int(np.where(left, best, -np.inf).argmax())
        signs[at] = signs[nearest[at]] * (1 if cosines[at, nearest[at]] >= 0 else -1)
    return signs


def _dense_enough(distances: NDArray, n_replicates: int, n_components: int) -> NDArray:
    """Return which atoms have others close by; all where too few have."""
    n_nearest = max(1, min(int(NEAREST * n_replicates), len(distances) - 1))
    if len(distances) < 2:
        return np.ones(len(distances), bool)
    # The first of the sorted distances is that of an atom to itself.
    close = np.partition(distances, n_nearest, axis=1)[:, : n_nearest + 1].sum(axis=1) / n_nearest
    kept: NDArray = close <= MAX_MEAN_DISTANCE
    enough = kept.sum() >= max(n_components, len(kept) // 4)
    return kept if enough else np.ones(len(kept), bool)


def _returning(cosines: NDArray, kept: NDArray, n_replicates: int, n_components: int) -> list[int]:
    """Return atoms, as many as there are clusters, that come back in most replicates.

    One after the other, the atom whose nearest ones in all replicates are nearest in sum; it takes
    these away. Random starts of k-means put two clusters into a program that varies, and miss one
    that four in five replicates have.
    """
    left, found = kept.copy(), []
    replicate, every = np.repeat(np.arange(n_replicates), n_components), np.arange(n_replicates)
    for _ in range(n_components):
        free = np.where(left, cosines, 0.0).reshape(-1, n_replicates, n_components)
        near = free.max(axis=2)
        backing = np.where(left, np.maximum(near - ALIKE, 0).sum(axis=1), -1.0)
        best = int(backing.argmax())
        found.append(best)
        taken = free[best].argmax(axis=1) + n_components * every
        left[taken[near[best] > ALIKE]] = False
        left[best] = False
        if not left.any():  # fewer are left than clusters: some are taken twice
            left = kept & (replicate != replicate[best])
    return found


def _grouped(rows: NDArray, first: NDArray) -> NDArray:
    """Return the clusters of k-means from these; where atoms repeat each other, none is empty."""
    from sklearn.cluster import KMeans

    n_clusters = len(first)
    if len(np.unique(rows.round(DECIMALS), axis=0)) <= n_clusters:
        return np.arange(len(rows)) % n_clusters
    return KMeans(n_clusters, init=first, n_init=1).fit_predict(rows)


def _silhouette(distances: NDArray, labels: NDArray) -> float:
    from sklearn.metrics import silhouette_score

    if not 1 < len(np.unique(labels)) < len(labels):
        return float("nan")
    return float(silhouette_score(distances, labels, metric="precomputed"))


def _cophenetic(distances: NDArray) -> float:
    if len(distances) < 3:
        return float("nan")
    pairs = scipy.spatial.distance.squareform(distances, checks=False)
    if pairs.std() == 0:
        return 1.0
    tree = scipy.cluster.hierarchy.linkage(pairs, method="average")
    return float(scipy.cluster.hierarchy.cophenet(tree, pairs)[0])
