"""Row by row: code a sample, offer it as representative, improve the weights of the hulls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import Matrix, dense
from atomstream.coders import ActiveSet, Coder, Codes
from atomstream.dictionaries.rows import Rows
from atomstream.fields.convex.hulls import Hulls, NamedRows
from atomstream.losses import Squared
from atomstream.memory import Aggregates, GramDelta, GramSums, State
from atomstream.penalties import Free, Simplex
from atomstream.penalties.base import kernel_form
from atomstream.problem import Accuracy, Batch, Clock, Needs, Objective
from atomstream.updates.base import CodedBatch, Updater

KEPT = -2  # of `fields.convex.kernel`: a row that is offered to no atom
# Runs of k-means: a small cluster among large ones is found in as few as a fifth of them. Of
# large problems fewer: a run costs its iterations times rows, features and clusters.
MIN_RUNS, MAX_RUNS, MAX_WORK = 4, 50, 1 << 28
REFILLS = 10  # rounds of clustering incomplete rows and filling their gaps
CHUNK = 128  # rows whose products with each other are formed at a time
EXACT = Accuracy(gap=1e-12)  # of codes that incomplete rows are filled by
GAP = 1e-4  # of a quadratic problem, over the surrogate


@dataclass(frozen=True)
class HullUpdate(Updater[State[Hulls, Aggregates]]):
    """The surrogate with damping, which the walk minimises after every row.

    Parameters
    ----------
    damping : float, default=0.0
        Added to the diagonal of A.
    """

    damping: float = 0.0
    statistics: ClassVar[GramSums] = GramSums()
    needs: ClassVar[Needs] = {"codes": ("shape",)}

    def value(self, state: State[Hulls, Aggregates], objective: Objective) -> float:
        """Return the surrogate with damping."""
        # Damping adds its multiple of the squared atoms to the surrogate, as A + damping I does.
        size = float(np.trace(state.dictionary.gram()))
        return state.memory.value(state.dictionary) + 0.5 * self.damping * size

    def average_dictionaries(
        self, dictionaries: Sequence[Hulls], shares: NDArray, memory: Aggregates
    ) -> Hulls:
        """Return the hulls with the lowest surrogate: averages would have other representatives."""
        return min(dictionaries, key=memory.value)

    def update(
        self,
        state: State[Hulls, Aggregates],
        objective: Objective,
        clock: Clock,
        latest: Sequence[CodedBatch] = (),
    ) -> None:
        """Do nothing: the walk has done it row by row."""


@dataclass(frozen=True)
class RowWise:
    """Algorithm 2 of online convex matrix factorization, many rows per call.

    Attributes
    ----------
    objective : Objective
    coder : Coder
        For codes outside of the walk.
    assign : callable
        ``(batch, rng) -> atom that each row is offered to``, -1 for the one with the largest
        coefficient.
    updater : HullUpdate
    explainer : Explainer
        How batches are coded and measured outside of the walk.
    gap : float, default=1e-4
        How exactly the problem of a row is solved: by how much the surrogate may lie above its
        minimum, relatively.
    missing : bool, default=False
        Whether entries of batches may be missing. An incomplete row is coded on what was observed,
        with the atoms as they are then; completed by its reconstruction it has this same code, and
        walks on as any other row.

    References
    ----------
    Agarwal, Peng, Milenkovic (2019), "Online convex matrix factorization with representative
    regions", Algorithm 2. The first N rows, and those that are representatives already, are coded
    and absorbed, but offered to no atom: while A is of lower rank than there are atoms, atoms move
    freely in their hulls, and rows of other clusters would pull them away.
    """

    objective: Objective
    coder: Coder
    assign: Callable[[Batch, np.random.Generator], NDArray]
    updater: HullUpdate
    explainer: Any
    gap: float = GAP
    missing: bool = False

    @property
    def statistics(self) -> GramSums:
        """Products of codes and data, for the figures that are measured on samples."""
        return self.updater.statistics

    def step(
        self, batch: Batch, state: State[Hulls, Aggregates], clock: Clock, rng: np.random.Generator
    ) -> tuple[Codes, GramDelta]:
        """Walk over the rows: code, absorb, swap one representative or none, move the atoms."""
        places = batch.position + np.arange(batch.X.shape[0])
        hulls = state.dictionary
        kept = (places < hulls.begun) | np.isin(places, hulls.indices)
        chosen = np.where(kept, KEPT, self.assign(batch, rng))
        parts = []
        for rows in _walked_together(batch.mask, batch.X.shape[0]):
            part = self._complete(batch, rows, state)
            observed = None if batch.mask is None else batch.mask[rows]
            parts.append(self._walk(part, observed, chosen[rows], state, clock))
        # The rows are in the memory already, one after the other: this delta only tells callbacks
        # what the batch came to, hence no sums.
        h = np.concatenate([codes for codes, _ in parts])
        masses = batch.row_weights
        values = np.concatenate([objective for _, objective in parts])
        (r, d), gram = state.dictionary.shape, state.dictionary.gram()
        delta = GramDelta(
            gram=np.zeros((r, r)),
            cross=np.zeros((r, d)),
            constant=0.0,
            # Atoms move with every row: their lengths after the last one stand for all.
            usage=masses @ np.abs(h) * np.sqrt(gram.diagonal()),
            objective=float(masses @ values),
            mass=batch.mass,
        )
        energy = state.memory.atom_energy(state.dictionary)
        state.usage.newest = delta.usage
        state.usage.age(batch.mass, energy, gram)
        return Codes(h.astype(batch.X.dtype), np.zeros(len(h))), delta

    def explain(self, batch: Batch, dictionary: Any, how: Any) -> Any:
        """Code a batch by hulls that stay as they are, and measure what it adds."""
        return self.explainer.explain(batch, dictionary, self, how)

    def without_reseeding(self) -> RowWise:
        """Return the algorithm as it is: it replaces no atom."""
        return self

    def reseed(self, batch: Batch, codes: Codes, state: State, rng: np.random.Generator) -> int:
        """Leave the atoms as they are: what nothing uses costs nothing."""
        return 0

    def _complete(self, batch: Batch, rows: slice, state: State[Hulls, Aggregates]) -> Batch:
        """Return some rows of a batch, with their gaps filled by their reconstructions."""
        weights, mask, ids = (
            None if part is None else part[rows] for part in (batch.weights, batch.mask, batch.ids)
        )
        # A row that is filled with its reconstruction has the same code as on what was observed.
        part = Batch(batch.X[rows], weights, mask)
        if part.mask is not None:
            codes = self.coder.encode(part, state.dictionary, self.objective, EXACT)
            part = Batch(part.complete(state.dictionary.decode(codes.values)), weights)
        return replace(part, ids=ids, position=batch.position + rows.start)

    def _walk(
        self,
        batch: Batch,
        observed: NDArray | None,
        chosen: NDArray,
        state: State[Hulls, Aggregates],
        clock: Clock,
    ) -> tuple[NDArray, NDArray]:
        """Walk over complete rows; ``observed`` says which entries were before they were filled."""
        from atomstream.fields.convex.kernel import walk

        hulls, memory = state.dictionary, state.memory
        # The kernel cannot refuse a row halfway: what would overflow is refused before it begins.
        with np.errstate(over="ignore"):
            if not np.isfinite(batch.energy).all():
                raise ValueError("Products of the rows are not finite; rescale the data.")
        X, n = batch.X.astype(np.float64), batch.X.shape[0]
        masses = batch.row_weights
        # One tick a row, as in the paper; a row of mass 0 is none.
        weights = np.array([clock.tick(float(mass)) if mass > 0 else 0.0 for mass in masses])
        R, (k, N) = hulls.samples.astype(np.float64), hulls.weights.shape
        h, values = np.zeros((n, k)), np.zeros(n)
        B = np.asarray(memory.cross)
        past = np.ascontiguousarray(np.asarray(X @ B.T).T)
        products = (_products(X, R), _products(X, X), past, batch.energy.astype(np.float64))
        # One column more than samples: the place of the row that is offered.
        W, K, C = np.zeros((k, N + 1)), np.zeros((N + 1, N + 1)), np.zeros((k, N + 1))
        W[:, :N], K[:N, :N] = hulls.weights, _products(R, R)
        C[:, :N] = np.asarray(R @ B.T).T
        source, regions = np.arange(N), (*hulls.places(), hulls.sizes is None)
        l1, l2, low, high, _, total = kernel_form(self.objective.codes)
        n_swaps = walk(
            (h, values, *products, weights, chosen),
            (W, K, memory.gram.copy(), C, source),
            regions,
            (l1, l2, low, high),
            total,
            self.updater.damping,
            float(memory.constant),
            self.gap,
        )
        if not (np.isfinite(values).all() and np.isfinite(W).all()):
            raise ValueError("Products of the rows are not finite; rescale the data.")
        places = batch.position + np.arange(n)
        known = NamedRows(batch.X, places, np.asarray(batch.ids), observed)
        hulls.swap(W[:, :N].copy(), source, known, int(n_swaps))
        if weights.any():
            lengths = np.sqrt(hulls.gram().diagonal())
            state.absorb(*self._as_one_batch(X, h, weights, batch.energy, lengths))
        return h, values

    def _as_one_batch(
        self, X: Matrix, h: NDArray, weights: NDArray, energy: NDArray, lengths: NDArray
    ) -> tuple[GramDelta, float]:
        """Return what the rows add to the memory, each by its last share, and their weight."""
        # After the rows w_1 .. w_n the past counts as prod (1 - w_s), and row t as w_t prod_{s > t}
        # (1 - w_s): one batch with these shares leaves the same averages.
        later = np.append(np.cumprod((1 - weights)[::-1])[::-1][1:], 1.0)
        shares = weights * later
        whole, weighted = float(shares.sum()), h * shares[:, None]
        cross = np.asarray((X.T @ weighted).T if sp.issparse(X) else weighted.T @ X)
        delta = GramDelta(
            gram=h.T @ weighted,
            cross=cross,
            constant=float(shares @ (0.5 * energy + self.objective.codes.elastic_net(h))),
            usage=np.abs(weighted).sum(axis=0) * lengths,
            objective=0.0,
            mass=whole,
        )
        return delta, whole


def _walked_together(mask: NDArray | None, n_rows: int) -> Iterator[slice]:
    """Yield the rows of a batch piece by piece: an incomplete row alone, for it needs the atoms."""
    n_seen = np.zeros(n_rows) if mask is None else mask.sum(axis=1)
    # A row without any entry weighs nothing and is passed over.
    whole = (n_seen == 0) | (n_seen == (0 if mask is None else mask.shape[1]))
    start = 0
    while start < n_rows:
        piece = whole[start : start + CHUNK]
        size = len(piece) if piece.all() else max(int(piece.argmin()), 1)
        yield slice(start, start + size)
        start += size


def starting_hulls(
    rows: NamedRows,
    n_components: int,
    labels: NDArray | None,
    seed: int,
    n_kept: int,
    *,
    shared: bool,
) -> Hulls:
    """Return hulls around the means of clusters: of k-means, or of known labels.

    Gaps are filled by the mean of the cluster, feature by feature; where labels are not known,
    clusters and means are found in turn.

    Parameters
    ----------
    rows : NamedRows
        What is clustered, with zeros where entries are missing.
    n_components : int
    labels : ndarray of int of shape (n_rows,), or None
    seed : int
    n_kept : int
        How many of the rows become representatives: the first ones of each cluster, in proportion
        to its size, and one of each at least.
    shared : bool
        Whether all atoms share one region.

    References
    ----------
    Agarwal, Peng, Milenkovic (2019), Algorithm 1. Chi, Chi, Baraniuk (2016), "k-POD: a method for
    k-means clustering of missing data", for rows with gaps.
    """
    X, places, ids, observed = rows
    if observed is not None and observed.all():
        observed = None
    if labels is None:
        labels = _clusters_of(X, observed, n_components, seed)
    if observed is not None:
        X = _filled(X, observed, labels)
    order = _in_proportion(labels, n_kept)
    sizes = np.bincount(labels[order], minlength=n_components)
    weights = np.zeros((n_components, len(order)))
    # Each atom begins as the mean of the representatives of its cluster.
    weights[labels[order], np.arange(len(order))] = 1 / sizes[labels[order]]
    known = (places[order], ids[order], None if observed is None else observed[order])
    hulls = Hulls(X[order], weights, None if shared else sizes, *known)
    hulls.begun = int(places[n_kept - 1]) + 1
    return hulls


def _in_proportion(labels: NDArray, n_kept: int) -> NDArray:
    """Return so many rows, those of the first cluster first, by the sizes of the clusters."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    before = np.cumsum(sizes) - sizes
    rank = np.arange(len(order)) - before[labels[order]]
    # The first row of each cluster comes before the second of any.
    first = np.argsort(rank / sizes[labels[order]], kind="stable")[:n_kept]
    return order[np.sort(first)]


def _clusters_of(X: Matrix, observed: NDArray | None, n_components: int, seed: int) -> NDArray:
    """Return labels of k-means; of incomplete rows, with gaps filled in turn."""
    if observed is None:
        return _clusters(X, n_components, seed)
    labels = np.zeros(X.shape[0], np.int64)
    for _ in range(REFILLS):
        before = labels
        labels = _clusters(_filled(X, observed, before), n_components, seed)
        if np.array_equal(labels, before):
            break
    return labels


def _filled(X: NDArray, observed: NDArray, labels: NDArray) -> NDArray:
    """Return rows with gaps filled by the mean of their cluster, or of all where it shows none."""
    member = (labels == np.arange(labels.max() + 1)[:, None]).astype(np.float64)
    total, count = member @ np.where(observed, X, 0), member @ observed
    overall = total.sum(axis=0) / np.maximum(count.sum(axis=0), 1)
    means = np.where(count > 0, total / np.maximum(count, 1), overall)
    return np.where(observed, X, means[labels]).astype(X.dtype)


def _clusters(X: Matrix, n_components: int, seed: int) -> NDArray:
    """Return labels of k-means without an empty cluster."""
    import warnings

    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    if not isinstance(X, np.ndarray):
        # scikit-learn's k-means takes no indices of 64 bits.
        X = sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
    n_runs = int(np.clip(MAX_WORK // (X.shape[0] * X.shape[1] * n_components), MIN_RUNS, MAX_RUNS))
    for again in range(10):
        with warnings.catch_warnings():
            # Fewer distinct rows than clusters: drawn again.
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = KMeans(n_components, n_init=n_runs, random_state=seed + again).fit(X).labels_
        if len(np.unique(labels)) == n_components:
            return labels.astype(np.int64)
    raise ValueError(
        f"The first {X.shape[0]} rows fall into fewer than n_components={n_components} clusters: "
        "too many are alike; take fewer atoms or more representatives."
    )


def _products(X: Matrix, Y: Matrix) -> NDArray:
    """Return the products of rows with rows as an array."""
    found = X @ Y.T
    return np.ascontiguousarray(found if isinstance(found, np.ndarray) else found.toarray())


def nearest_in_hulls(hulls: Hulls, rows: NDArray) -> NDArray:
    """Return the point of each atom's hull that is nearest to its row."""
    # The nearest point of a hull: least squares with shares on a simplex.
    found, objective = np.empty_like(rows), Objective(Squared(), codes=Simplex(), atoms=Free())
    for j, row in enumerate(rows):
        hull = Rows(dense(hulls.samples[hulls.region(j)]).astype(np.float64))
        codes = ActiveSet().encode(Batch(row[None]), hull, objective, Accuracy(gap=1e-12))
        found[j] = hull.decode(codes.values)[0]
    return found
