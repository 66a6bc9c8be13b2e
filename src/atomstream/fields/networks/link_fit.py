"""A score of pairs of nodes fitted on edges of the same network that are hidden or planted anew."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.fields.networks import edge_sets
from atomstream.fields.networks.link_scores import pair_scores
from atomstream.fields.networks.network import Network

HIDDEN_SHARE = 0.25  # of the edges left, hidden once more
PLANTED_SHARE = 0.1
# Planted edges are taken for uniform ones with this probability, and else for matched by degree:
# chosen on karate, Les Miserables, the power law and preferential attachment, where 1 fails on
# matched edges and 0 on uniform ones.
UNIFORM_SHARE = 0.75
MAX_PAIRS = 20_000  # of each kind in a repetition
REPEATED_PAIRS, REPEATS = 2000, (2, 10)  # small networks are changed more often
EM_STEPS, PRIOR_COUNT = 200, 2.0

Extra = Callable[[Network, NDArray], dict[str, NDArray]]


@dataclass(frozen=True, eq=False)
class LinkFit:
    """Scores of pairs of nodes from a fit, and what atoms added to it.

    Attributes
    ----------
    scores : ndarray of shape (n_pairs,)
        Log-odds of being an edge, up to a constant.
    without : ndarray of shape (n_pairs,)
        Scores of the same fit without the atoms.
    area, area_without : float
        Mean areas under the ROC curve on edges hidden or planted once more, in repetitions that
        the fit did not see; NaN for ``area`` if there are no atoms.
    """

    scores: NDArray
    without: NDArray
    area: float
    area_without: float

    @property
    def gain(self) -> float:
        """What the atoms add to the area; where it is not above 0 they are left out."""
        return self.area - self.area_without


def task_of(network: Network, rows: NDArray, columns: NDArray) -> bool:
    """Return whether pairs are edges, among which planted ones are to be found.

    Raises
    ------
    ValueError
        If some are edges and others are not.
    """
    joined = np.asarray(network.out[rows, columns]).ravel() > 0 if len(rows) else np.zeros(0, bool)
    if joined.any() != joined.all():
        raise ValueError(
            "scores='fitted' compares edges with edges or non-edges with non-edges, and these "
            "pairs are both; rank each kind by itself."
        )
    return bool(joined.any())


def fit_links(
    network: Network,
    pairs: NDArray,
    planted: bool,
    rng: np.random.Generator,
    extra: Extra | None = None,
) -> LinkFit:
    """Return scores of pairs, fitted on edges hidden or planted once more.

    Every score becomes its rank among the candidates. A multinomial regression tells three classes
    apart: edges, uniform non-edges, and non-edges matched by degree. Which share of the candidates
    the two kinds of non-edges have comes from the candidates themselves, by EM, when edges were
    hidden; among planted ones true edges outnumber it, and the share is `UNIFORM_SHARE`.

    Parameters
    ----------
    network : Network
    pairs : ndarray of int64 of shape (n_pairs, 2)
        The candidates, by the numbers of their nodes.
    planted : bool
        Whether planted edges are to be found among edges, or else hidden ones among non-edges.
    rng : Generator
    extra : callable, optional
        Scores of pairs of a changed network from atoms.

    References
    ----------
    Saerens, Latinne, Decaestecker (2002), "Adjusting the outputs of a classifier to new a priori
    probabilities", for the EM algorithm.
    """
    # The fit needs no more of them; scores are then given to all.
    sample = _some(pairs, rng)
    # Few pairs leave much to chance, and more repetitions cost little there.
    n = int(np.clip(REPEATED_PAIRS // max(len(pairs), 1), *REPEATS))
    cases = [_case(*case, extra) for case in _changed(network, sample, planted, rng, n)]
    atoms = {} if extra is None else extra(network, pairs)
    final = _ranks(pair_scores(network, pairs) | atoms)
    few, all_of_them = final.shape[1] - len(atoms), final.shape[1]
    scores = {width: _fitted(cases, final, planted, width) for width in {few, all_of_them}}
    if extra is None or not len(pairs):
        return LinkFit(scores[few], scores[few], np.nan, np.nan)
    areas = {width: _area(cases, final, planted, width) for width in (few, all_of_them)}
    best = max(areas, key=lambda width: areas[width])  # of two that are equal the first
    return LinkFit(scores[best], scores[few], areas[all_of_them], areas[few])


def _some(pairs: NDArray, rng: np.random.Generator) -> NDArray:
    """Return pairs, or a sample where they are very many."""
    if len(pairs) <= MAX_PAIRS:
        return pairs
    return pairs[np.sort(rng.permutation(len(pairs))[:MAX_PAIRS])]


def _changed(
    network: Network, pairs: NDArray, planted: bool, rng: np.random.Generator, n: int
) -> Iterator[tuple[Network, NDArray, NDArray]]:
    """Yield networks with edges hidden or planted anew, pairs, and the class of each pair.

    Classes: 0 edges, 1 uniform and 2 matched non-edges; -1 candidates, whose class is unknown.
    Candidates come first.
    """
    for _ in range(n):
        if planted:
            size = max(2, min(MAX_PAIRS, round(PLANTED_SHARE * len(edge_sets.edges_of(network)))))
            others = _two_kinds(network, size // 2, rng)
            matrix = edge_sets.with_edges(network, np.concatenate(others), rng)
            groups, numbers = [pairs, *others], [0, 1, 2]
        else:
            hidden, matrix = edge_sets.hidden_again(network, HIDDEN_SHARE, rng)
            hidden = _some(hidden, rng)
            groups = [pairs, hidden, *_two_kinds(network, len(hidden), rng)]
            numbers = [-1, 0, 1, 2]
        classes = np.repeat(numbers, [len(group) for group in groups])
        yield edge_sets.changed(network, matrix), np.concatenate(groups), classes


def _two_kinds(network: Network, n: int, rng: np.random.Generator) -> list[NDArray]:
    """Return n uniform non-edges, and matched ones that are not among them."""
    uniform, matched = (edge_sets.non_edges(network, n, rng, kind) for kind in (False, True))
    known = [pairs @ [network.n_nodes, 1] for pairs in (uniform, matched)]
    return [uniform, matched[~np.isin(known[1], known[0])]]


def _case(
    network: Network, pairs: NDArray, classes: NDArray, extra: Extra | None
) -> tuple[NDArray, NDArray]:
    """Return ranks of the scores of pairs among the candidates, and the classes."""
    scores = pair_scores(network, pairs) | ({} if extra is None else extra(network, pairs))
    # Of planted edges the candidates are class 0, of hidden ones -1; either way they come first.
    first = classes == classes[0]
    ranks, known = _ranks(scores, first), classes >= 0
    return ranks[known], classes[known]


def _ranks(scores: dict[str, NDArray], among: NDArray | None = None) -> NDArray:
    """Return the place of each score among the candidates, from -1/2 to 1/2; ties in the middle."""
    found = np.empty((len(next(iter(scores.values()))), len(scores)))
    for column, values in enumerate(scores.values()):
        known = np.sort(values if among is None else values[among])
        # The mean of both ends of a tie is its middle.
        places = sum(np.searchsorted(known, values, side) for side in ("left", "right"))
        found[:, column] = places / (2 * max(len(known), 1)) - 0.5
    return found


def _fitted(cases: list[Any], final: NDArray, planted: bool, width: int) -> NDArray:
    """Return the log-odds of the candidates."""
    model = _regression(cases, width)
    return _odds(model, final[:, :width], _mixture(model, final[:, :width], planted))


def _regression(cases: list[Any], width: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    ranks = np.concatenate([ranks[:, :width] for ranks, _ in cases])
    classes = np.concatenate([classes for _, classes in cases])
    # Balanced: how many of each class are hidden or planted is a choice of ours, not of the
    # network.
    return LogisticRegression(class_weight="balanced", max_iter=500).fit(ranks, classes)


def _mixture(model: Any, ranks: NDArray, planted: bool) -> NDArray:
    """Return the shares of uniform and matched non-edges among the candidates' non-edges."""
    if planted or not len(ranks):
        return np.array([UNIFORM_SHARE, 1 - UNIFORM_SHARE])
    likelihoods, shares = model.predict_proba(ranks), np.full(3, 1 / 3)
    for _ in range(EM_STEPS):
        # EM over the shares alone: balanced classes gave the classifier equal priors, so that its
        # probabilities stand for likelihoods.
        weighted = likelihoods * shares
        counts = (weighted / weighted.sum(axis=1, keepdims=True)).sum(axis=0) + PRIOR_COUNT
        shares = counts / counts.sum()
    return shares[1:] / shares[1:].sum()


def _odds(model: Any, ranks: NDArray, mixture: NDArray) -> NDArray:
    """Return the log-odds of an edge against the mixture of non-edges."""
    from scipy.special import logsumexp

    if not len(ranks):
        return np.zeros(0)
    logs = model.decision_function(ranks)
    # An edge against the two kinds of non-edges by their shares.
    return logs[:, 0] - logsumexp(logs[:, 1:] + np.log(mixture), axis=1)


def _area(cases: list[Any], final: NDArray, planted: bool, width: int) -> float:
    """Return the mean area under the ROC curve of each repetition, fitted on the others."""
    from sklearn.metrics import roc_auc_score

    areas = []
    for number, (ranks, classes) in enumerate(cases):
        model = _regression(cases[:number] + cases[number + 1 :], width)
        mixture = _mixture(model, final[:, :width], planted)
        weights = np.concatenate([[1.0], mixture])[classes]
        odds = _odds(model, ranks[:, :width], mixture)
        areas.append(roc_auc_score(classes == 0, odds, sample_weight=weights))
    return float(np.mean(areas))
