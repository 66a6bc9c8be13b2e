"""Online CP-dictionaries: the one loop with rank-one atoms, known by their loadings, and a sweep over the modes."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.core.batch import Batch
from atomstream.core.method import Method
from atomstream.core.objective import Objective
from atomstream.core.state import State
from atomstream.dictionaries.loadings import Loadings, ModeSets, mode_problem, rank_one
from atomstream.domains.tensors.axes import Axes
from atomstream.estimators._base import OnlineDictionary
from atomstream.estimators._validation import check_size, check_start, check_X
from atomstream.estimators.registry import SCHEDULES, SETS, resolve, resolve_coder, with_elastic_net
from atomstream.losses import Squared
from atomstream.memory.usage import Usage
from atomstream.penalties.ball import NormBall
from atomstream.penalties.base import TINY, Penalty, project
from atomstream.schedules import check_conditions
from atomstream.updates.loadings import LoadingSweep
from atomstream.updates.reseeding import Reseeding, starting_atoms

__all__ = ["OnlineCPDictionary"]

REACH = 10.0  # norms of unit columns that a loading matrix may move by in a batch of weight 1
BROKEN = {
    "sum_diverges": "its weights have a finite sum, so the start is never forgotten",
    "squares_converge": "its weights fall too slowly for noise to average out",
    "slow_decay": "late samples weigh less than early ones",
}


class OnlineCPDictionary(OnlineDictionary):
    r"""A dictionary of rank-one atoms for a stream of tensors of any order, in memory that does not grow.

    Samples are tensors :math:`x` of shape (I_1, ..., I_n), stacked along the first axis; atom r is
    the outer product of column r of n loading matrices. Minimises the mean over the stream of
    :math:`\tfrac12 \|x - \sum_r h_r\, U^{(1)}_{:r} \otimes \dots \otimes U^{(n)}_{:r}\|_F^2 + alpha \|h\|_1
    + \tfrac{ridge}{2}
    \|h\|_2^2`. With one mode and ``radius=None`` this is `OnlineNMF` under the squared loss.

    Parameters
    ----------
    n_components : int, default=10
        Number of atoms, the rank R.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes, in the units of the data times their norm; half the
        papers' lambda.
    ridge : float, default=0.0
        Strength of the squared l2 penalty on the codes (halved in the objective).
    damping : float, default=0.0
        Added to the diagonal of the averaged gram of the codes.
    codes : str or penalty part, default="nonnegative"
        Set of the codes, as in `OnlineDictionaryLearning`.
    atoms : str, part, or list of them, default="nonnegative_ball"
        Set of the columns of each loading matrix; a list gives one per mode (after ``reshape``):
        "nonnegative_ball" (of length at most one: the scale of a sample lives in its code, so that
        ``alpha`` means something), "nonnegative", "bounded" (nonnegative, with the Frobenius norm
        of the matrix bounded as in eq. (4.83), by the norm of the first batch), "free",
        "unit_ball", "simplex".
    reshape : list of tuples of int, optional
        Groups of modes, counted without the sample axis from 0, that are one mode while learning:
        ``[(0,), (1, 2)]`` leaves mode 0 free to vary apart from modes 1 and 2, which may depend on
        each other as they like. Atoms come back in the shape of the samples.
    radius : {"auto"}, float or None, default="auto"
        c': no loading matrix moves further than c' times the weight of the batch, in Frobenius
        norm. "auto" is ten times the norm of a matrix with columns of length one; None sets no
        bound.
    n_sweeps : int, default=3
        Sweeps over the modes per batch.
    coder : str or coder part, default="auto"
        As in `OnlineNMF`.
    schedule : {"harmonic", "power", "polynomial", "log_polynomial", "constant"} or callable,
    default="harmonic"
        How much a batch weighs in the memory; a warning says which part of condition (A3) a
        schedule breaks.
    tol : float, {"log", "root"} or callable, default=1e-3
        As in `OnlineNMF`. Atoms of low rank overlap much, so rough codes cost more than they save.
    batch_size, n_epochs, shuffle, n_jobs, max_time, random_state
        As in `OnlineNMF`; ``batch_size`` counts tensors, 64 by default.
    init : {None, "random", "samples"} or list of arrays of shape (I_k, n_components), default=None
        The starting loadings: random ones, those of rank-one tensors near samples of the first
        batch, drawn by weight, or the matrices themselves. None is "random", which leaves fewer
        poor minima.
    fixed_components : int, default=0
        The first so many atoms of ``init`` are kept as they are.
    missing : bool, default=False
        Whether NaN stands for an entry that was not observed.

    Attributes
    ----------
    loadings_ : list of ndarray of shape (I_k, n_components)
        One per mode, or per group of modes.
    components_ : ndarray of shape (n_components, I_1, ..., I_n)
        The atoms, formed on demand.
    weights, factors : ndarray of shape (n_components,), list of ndarray
        Ones, and ``loadings_``: what TensorLy's functions take as a CP tensor,
        ``(model.weights, model.factors)``.
    shape_in_ : tuple of int
        (I_1, ..., I_n).
    radius_ : float or None
        c'.
    importance_, memory_, n_steps_, n_samples_seen_, n_reseeded_, batch_objective_
        As in `OnlineNMF`; the rows of ``memory_.cross`` are tensors, flattened.

    Raises
    ------
    ValueError
        For data of another order or shape than before, not finite, or negative where loadings and
        codes may not be, and for settings out of range; the model stays as it was.

    References
    ----------
    Lyu (2022), "Dictionary learning from dependent data samples", chapter 4, Algorithms 7 and 8;
    Lyu, Strohmeier, Needell (2020), "Online nonnegative CP-dictionary learning for Markovian data".
    docs/algorithms/cp-dictionaries.md maps each equation to its function.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import OnlineCPDictionary
    >>> rng = np.random.default_rng(0)
    >>> X = np.einsum("nr,ir,jr->nij", rng.random((300, 2)), rng.random((6, 2)), rng.random((5, 2)))
    >>> model = OnlineCPDictionary(2, batch_size=50, n_epochs=30, random_state=0).fit(X)
    >>> [U.shape for U in model.loadings_], model.components_.shape
    ([(6, 2), (5, 2)], (2, 6, 5))
    >>> error = model.inverse_transform(model.transform(X)) - X
    >>> bool(np.linalg.norm(error) < 0.02 * np.linalg.norm(X))
    True
    """

    SIGNED: ClassVar[str] = "say codes='free' and atoms='unit_ball'"
    STARTS: ClassVar[tuple[str | None, ...]] = (None, "samples", "random")

    axes_: Axes
    norm_: float

    def __init__(
        self,
        n_components: int = 10,
        *,
        alpha: float = 0.0,
        ridge: float = 0.0,
        damping: float = 0.0,
        codes: Any = "nonnegative",
        atoms: Any = "nonnegative_ball",
        reshape: Any = None,
        radius: Any = "auto",
        n_sweeps: int = 3,
        coder: Any = "auto",
        schedule: Any = "harmonic",
        tol: Any = 1e-3,
        batch_size: int = 64,
        n_epochs: int = 10,
        shuffle: bool = True,
        init: Any = None,
        fixed_components: int = 0,
        missing: bool = False,
        n_jobs: int | None = None,
        max_time: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.ridge = ridge
        self.damping = damping
        self.codes = codes
        self.atoms = atoms
        self.reshape = reshape
        self.radius = radius
        self.n_sweeps = n_sweeps
        self.coder = coder
        self.schedule = schedule
        self.tol = tol
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.shuffle = shuffle
        self.init = init
        self.fixed_components = fixed_components
        self.missing = missing
        self.n_jobs = n_jobs
        self.max_time = max_time
        self.random_state = random_state

    @classmethod
    def from_components(cls, components: Any, **params: Any) -> Self:
        """Make a model that codes with known loadings at once and can go on learning.

        Parameters
        ----------
        components : list of array-likes of shape (I_k, n_components)
            The loading matrices, one per mode or group of modes, taken as they are; their sets are
            enforced when they are first updated.
        **params
            Any other parameters of the model.

        Returns
        -------
        model
            With empty memory and the clock at 0.
        """
        matrices = [check_start(matrix) for matrix in components]
        ranks = {matrix.shape[1] for matrix in matrices}
        if len(ranks) != 1:
            raise ValueError(
                f"components must be matrices with one number of columns, got {sorted(ranks)}."
            )
        dtype = np.result_type(*matrices)
        model = cls(**{"n_components": ranks.pop(), "init": matrices, **params})
        check_size(model, matrices[0].shape[1])
        model.axes_ = Axes.of_groups([len(matrix) for matrix in matrices], model.reshape)
        model.n_features_in_ = math.prod(model.axes_.shape)
        model._begin()
        model._set_loadings([matrix.astype(dtype) for matrix in matrices], 1.0)
        return model

    # -- the parts
    #
    #
    #
    #
    #
    # ------------------------------------------------------------------------------------------------

    @property
    def method_(self) -> Method:
        """The parts that the parameters stand for."""
        codes = with_elastic_net(resolve("codes", self.codes, SETS, "prox"), self.alpha, self.ridge)
        sets = ModeSets(self._sets(self.__dict__.get("norm_", 1.0)))
        coder = resolve_coder(self.coder, Squared(), codes, self.n_jobs)
        updater = LoadingSweep(
            float(self.damping), self.fixed_components, self.n_sweeps, self.radius_
        )
        return Method(
            Objective(Squared(), codes, sets),
            coder,
            updater,
            Reseeding(),
            missing=bool(self.missing),
        )

    def _sets(self, norm: float) -> tuple[Penalty, ...]:
        """Return the set of each mode."""
        known = {name: part for name, part in SETS.items() if name not in ("box", "covering")}
        known["bounded"] = lambda: NormBall(norm)
        many = isinstance(self.atoms, list | tuple)
        n_modes = (
            len(self.axes_.sizes) if hasattr(self, "axes_") else len(self.atoms) if many else 1
        )
        choices = list(self.atoms) if many else [self.atoms] * n_modes
        if len(choices) != n_modes:
            raise ValueError(
                f"atoms must name one set or one per mode, {n_modes} here, got {len(choices)}."
            )
        parts = tuple(resolve("atoms", choice, known, "prox") for choice in choices)
        for part in parts:
            if part.l1 or part.l2:
                raise ValueError(f"atoms={part!r} brings a penalty; loadings lie in sets only.")
        return parts

    def _schedule(self) -> Any:
        return resolve("schedule", self.schedule, SCHEDULES, "__call__")

    # -- tensors in, tensors out
    # ----------------------------------------------------------------------------------

    def _take_in(self, X: Any, *, reset: bool) -> Any:
        """Return checked samples as rows, their modes in groups."""
        axes = Axes.of(X, self.reshape)
        if reset:
            self.axes_ = axes
        else:
            self.axes_.check_same(axes)
        return check_X(self, self.axes_.flatten(X), reset=reset)

    def _give_out(self, rows: Any) -> Any:
        """Return rows as tensors."""
        return self.axes_.restore(rows)

    @property
    def radius_(self) -> float | None:
        """c', the number that ``radius`` stands for."""
        return REACH * math.sqrt(self.n_components) if isinstance(self.radius, str) else self.radius

    @property
    def shape_in_(self) -> tuple[int, ...]:
        """Shape of a sample."""
        check_is_fitted(self)
        return self.axes_.shape

    @property
    def loadings_(self) -> list[NDArray]:
        """The loading matrices, (I_k, n_components), read-only."""
        check_is_fitted(self)
        return list(self.state_.dictionary.matrices)

    @property
    def components_(self) -> NDArray:
        """The atoms as tensors, (n_components, I_1, ..., I_n), formed on demand."""
        check_is_fitted(self)
        return self._give_out(self.state_.dictionary.atoms())

    @property
    def weights(self) -> NDArray:
        """Ones: the weights of the atoms as a CP tensor."""
        check_is_fitted(self)
        return np.ones(self.state_.dictionary.shape[0], self.state_.dictionary.dtype)

    @property
    def factors(self) -> list[NDArray]:
        """The loading matrices: the factors of the atoms as a CP tensor."""
        return self.loadings_

    def to_cp(self, X: Any) -> tuple[NDArray, list[NDArray]]:
        """Return samples as a CP tensor whose first factor is their codes: weights and factors.

        Parameters
        ----------
        X : array-like of shape (n_samples, I_1, ..., I_n)
        """
        return self.weights, [self.transform(X), *self.loadings_]

    def labelled_loadings(self) -> list[Any]:
        """Return the loadings with the names and coordinates of the xarray data learned from, one array per group.

        A group of several modes has an axis for each; the last axis is "atom".

        Raises
        ------
        ValueError
            For models that have not learned from an xarray.DataArray.
        """
        check_is_fitted(self)
        return self.axes_.label(self.loadings_)

    # -- the engine room
    # ------------------------------------------------------------------------------------------

    def _begin(self) -> np.random.Generator:
        self.__dict__.pop("norm_", None)
        self._check_radius()
        conditions = check_conditions(self._schedule())
        if not conditions.met:
            broken = " and ".join(
                text for name, text in BROKEN.items() if not getattr(conditions, name)
            )
            warnings.warn(
                f"schedule={self.schedule!r} breaks condition (A3) for batches of equal size: {broken}; convergence "
                "is not guaranteed.",
                UserWarning,
                stacklevel=4,
            )
        return super()._begin()

    def _next_batch(
        self, X: Any, sample_weight: Any, y: Any = None, ids: Any = None
    ) -> tuple[Batch, np.random.Generator]:
        self._check_radius()
        batch, rng = super()._next_batch(X, sample_weight)
        if (
            "state_" in self.__dict__ and self.clock_.step == 0
        ):  # known loadings meet the first batch
            self.norm_ = self._norm(batch)
        return batch, rng

    def _norm(self, batch: Batch) -> float:
        """Return the bound (4.83) for a batch: one share of its norm for each mode and one for the samples."""
        energy = float(
            batch.energy.sum() if batch.weights is None else batch.energy @ batch.weights
        )
        return math.sqrt(self.n_components) * energy ** (0.5 / (len(self.axes_.sizes) + 1)) or 1.0

    def _check_radius(self) -> None:
        if self.radius is None or (isinstance(self.radius, str) and self.radius == "auto"):
            return
        number = isinstance(self.radius, int | float | np.number) and not isinstance(
            self.radius, bool
        )
        if not (number and 0 < self.radius < np.inf):
            raise ValueError(
                f"radius must be a number above 0, 'auto', or None for no bound, got {self.radius!r}."
            )

    def _start(self, batch: Batch, rng: np.random.Generator) -> None:
        """Make the starting loadings: random ones, those of rank-one tensors near samples, or those given."""
        sizes, r, dtype = self.axes_.sizes, self.n_components, batch.X.dtype
        norm = self._norm(batch)
        parts = ModeSets(self._sets(norm))
        if self.init is None or (isinstance(self.init, str) and self.init == "random"):
            draw = rng.random if parts.nonnegative else rng.standard_normal
            rows = [
                part.normalize(draw((r, size)))
                for part, size in zip(parts.sets, sizes, strict=True)
            ]
        elif isinstance(self.init, str):
            near = [
                rank_one(row.reshape(sizes), parts)
                for row in starting_atoms(batch, r, "samples", parts, rng)
            ]
            rows = [np.stack(columns) for columns in zip(*near, strict=True)]
        else:
            if len(self.init) != len(sizes):
                raise ValueError(
                    f"init must hold a matrix for each of {len(sizes)} modes, got {len(self.init)}."
                )
            rows = [check_start(U).T for U in self.init]
            for U, size in zip(rows, sizes, strict=True):
                if U.shape != (r, size):
                    raise ValueError(
                        f"init must hold matrices of shape (I_k, {r}), {(size, r)} here, got {U.T.shape}."
                    )
        fixed = self.fixed_components
        sets: Any = parts.sets
        inside = [
            project(U.astype(np.float64), part, fixed) for part, U in zip(sets, rows, strict=True)
        ]
        self._set_loadings([U.T.astype(dtype) for U in inside], norm)

    def _set_loadings(self, matrices: list[NDArray], norm: float) -> None:
        self.norm_, self._loss = norm, Squared()
        dictionary = Loadings(matrices)
        self.state_ = State(dictionary, self._memory(*dictionary.shape), Usage(dictionary.shape[0]))

    def stationarity(self, X: Any) -> float:
        r"""Return how far the loadings are from a critical point of the mean loss on samples, 0 at such points.

        With :math:`G_i` the gradient of the mean loss in :math:`U^{(i)}` at optimal codes and
        :math:`L_i` the largest eigenvalue of its matrix :math:`\bar A`, the root of
        :math:`\sum_i \|U^{(i)} - P(U^{(i)} - G_i / L_i)\|^2` over that of :math:`\sum_i \|U^{(i)}\|^2`.

        Parameters
        ----------
        X : array-like of shape (n_samples, I_1, ..., I_n)
        """
        batch = self._given(X)
        method, dictionary = self.method_, self.state_.dictionary
        delta = method.statistics.measure(batch, self._encode(batch), dictionary, method.objective)
        off = size = 0.0
        for mode, part in enumerate(method.objective.atoms.sets):
            gram, cross = mode_problem(dictionary, delta.gram / delta.mass, delta.cross, mode)
            rows = dictionary.matrices[mode].T.astype(np.float64)
            slope = gram @ rows - cross / delta.mass
            moved = part.prox(rows - slope / max(float(np.linalg.eigvalsh(gram)[-1]), TINY), 0.0)
            off += float(((rows - moved)[self.fixed_components :] ** 2).sum())
            size += float((rows**2).sum())
        return float(np.sqrt(off / max(size, TINY)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = resolve(
            "codes", self.codes, SETS, "prox"
        ).nonnegative and all(part.nonnegative for part in self._sets(1.0))
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
