"""Online CP-dictionaries: the one loop with rank-one atoms, known by their loadings."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import Matrix, Samples, checked_numbers
from atomstream.base.axes import Axes
from atomstream.base.saved_fields import number
from atomstream.estimators import registry
from atomstream.estimators._base import OnlineDictionary
from atomstream.estimators._columns import in_axes
from atomstream.estimators._estimator import estimator, view
from atomstream.estimators._validation import check_size, check_X
from atomstream.fields.tensors import figures
from atomstream.fields.tensors.loadings import Loadings, ModeSets
from atomstream.fields.tensors.parameters import CP
from atomstream.fields.tensors.theorem import CPTheorem
from atomstream.fields.tensors.update import LoadingSweep
from atomstream.loop import Algorithm
from atomstream.losses import Squared
from atomstream.penalties.ball import NormBall
from atomstream.penalties.base import Penalty, project
from atomstream.problem import Batch, Objective
from atomstream.updates.reseeding import Reseeding

NO_LOADINGS = ("box", "covering", "unit_sphere")  # sets that loadings are not sought in


@estimator
class OnlineCPDictionary(CPTheorem, OnlineDictionary):
    r"""A dictionary of rank-one atoms for a stream of tensors of any order.

    Samples are tensors :math:`x` of shape (I_1, ..., I_n), stacked along the first axis; atom r is
    the outer product of column r of n loading matrices. Minimises the mean over the stream of
    :math:`\tfrac12 \|x - \sum_r h_r\, U^{(1)}_{:r} \otimes \dots \otimes U^{(n)}_{:r}\|_F^2 + alpha
    \|h\|_1 + \tfrac{ridge}{2} \|h\|_2^2`. With one mode and no radius this is `OnlineNMF` under
    the squared loss.

    Parameters
    ----------
    n_components : int, default=10
        Number of atoms, the rank R.
    damping : float, default=0.0
        As in `OnlineNMF`.
    codes : str or penalty part, default="nonnegative"
        Set of the codes, as in `OnlineDictionaryLearning`.
    atoms : str, part, or list of them, default="nonnegative_ball"
        Set of the columns of each loading matrix; a list gives one per mode (after ``reshape``):
        "nonnegative_ball" (of length at most one: the scale of a sample is in its code, so that
        ``alpha`` means something), "nonnegative", "bounded" (nonnegative, with the Frobenius norm
        of the matrix bounded as in eq. (4.83), by the norm of the first batch), "free",
        "unit_ball", "simplex".
    reshape : list of tuples of int, optional
        Groups of modes, counted without the sample axis from 0, that are one mode while learning:
        ``[(0,), (1, 2)]`` leaves mode 0 free to vary apart from modes 1 and 2, which may depend on
        each other as they like. Atoms come back in the shape of the samples.
    updater : "auto" or `atomstream.updates.LoadingSweep`, default="auto"
        Steps of the loadings: how far they may move (``updater__radius``), and how often modes are
        swept.
    coder : str or coder part, default="auto"
        As in `OnlineNMF`; ``coder__tol`` is 1e-3 where nothing else is said: atoms of low rank
        overlap much, so rough codes cost more than they save.
    init : {None, "random", "samples"} or list of arrays of shape (I_k, n_components), default=None
        The starting loadings: random ones, those of rank-one tensors near samples of the first
        batch, drawn by weight, or the matrices themselves. None is "random".
    fixed_components : int, default=0
        As in `OnlineNMF`.
    missing : bool, default=False
        As in `OnlineNMF`.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes, in the units of the data times their norm; half the
        papers' lambda.
    ridge : float, default=0.0
        As in `OnlineNMF`.
    schedule : str or callable, default="harmonic"
        How much a batch weighs in the memory; names as in `OnlineNMF`.
    batch_size : int, default=64
        Tensors per step of `fit`.
    n_epochs : int, optional
        Passes of `fit` over the data, by default ten. By default, and after more than ten, rounds
        over all samples at a time follow, until one gains next to nothing. Where columns of the
        loadings are nearly parallel, passes alone end well above that.
    shuffle : bool, default=True
        As in `OnlineNMF`.
    n_jobs, max_time : int and float, optional
        As in `OnlineNMF`.
    random_state : int, Generator, RandomState or None, default=None

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
        For data of another order or shape than before, or not finite, and for settings out of
        range; the model stays as it was. Data may be negative where loadings and codes are not.

    References
    ----------
    Strohmeier (2023), "Online nonnegative CP-dictionary learning with applications to multimodal
    data", chapter 4, Algorithms 6 to 10; Lyu, Strohmeier, Needell (2022), "Online nonnegative
    CP-dictionary learning for Markovian data".
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

    PARAMETERS: ClassVar = CP

    BOTH_SIGNS: ClassVar[str] = "say codes='free' and atoms='unit_ball'"
    LEARNED = (*OnlineDictionary.LEARNED, number("norm_", above=0))
    KNOWN = ("n_features_in_", "axes_")
    _several = True
    TOLERANCE = 1e-3

    shape_in_ = view("axes_.shape", "Shape of a sample.")
    factors = view("loadings_", "The loading matrices: the factors of the atoms as a CP tensor.")

    n_components: int = 10
    _: KW_ONLY
    damping: float = 0.0
    codes: registry.SetChoice = "nonnegative"
    atoms: registry.SetChoice | Sequence[registry.SetChoice] = "nonnegative_ball"
    reshape: object = None
    updater: object = "auto"
    coder: registry.CoderChoice = "auto"
    schedule: registry.ScheduleChoice = "harmonic"
    batch_size: int = 64
    init: registry.Start = None
    fixed_components: int = 0
    missing: bool = False

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
        matrices = figures.check_loadings(components)
        model = cls(**{"n_components": matrices[0].shape[1], "init": matrices, **params})
        check_size(model, matrices[0].shape[1])
        model.axes_ = Axes.of_groups([len(matrix) for matrix in matrices], model.reshape)
        model.n_features_in_ = math.prod(model.axes_.shape)
        model._begin()
        model.norm_ = 1.0
        dtype = np.result_type(*matrices)
        model._start(Loadings([matrix.astype(dtype) for matrix in matrices]))
        return model

    # -- the parts

    def _make_algorithm(self) -> Algorithm:
        """Return the parts that the parameters stand for."""
        codes = registry.with_elastic_net(self._codes_set(), self.alpha, self.ridge)
        sets = ModeSets(self._sets(self.__dict__.get("norm_", 1.0)))
        coder = registry.resolve_coder(self.coder, Squared(), codes)
        updater = registry.resolve("updater", self.updater, {"auto": LoadingSweep}, "bound")
        fixed, damping = self.fixed_components, float(self.damping)
        updater = registry.with_fields(
            updater, fixed=("fixed_components", fixed), damping=("damping", damping)
        )
        objective = Objective(Squared(), codes, sets)
        reseeding = Reseeding(updater.patience)
        return Algorithm(objective, coder, updater, reseeding, missing=bool(self.missing))

    def _codes_set(self) -> Penalty:
        """Return the set of the codes."""
        return registry.resolve("codes", self.codes, registry.SETS, "prox")

    def _sets(self, norm: float) -> tuple[Penalty, ...]:
        """Return the set of each mode."""
        known = {name: part for name, part in registry.SETS.items() if name not in NO_LOADINGS}
        known["bounded"] = lambda: NormBall(norm)
        given: Any = self.atoms
        many = isinstance(given, list | tuple)
        n_modes = len(self.axes_.sizes) if hasattr(self, "axes_") else len(given) if many else 1
        choices = list(given) if many else [given] * n_modes
        if len(choices) != n_modes:
            raise ValueError(
                f"atoms must name one set or one per mode, {n_modes} here, got {len(choices)}."
            )
        parts = tuple(registry.resolve("atoms", choice, known, "prox") for choice in choices)
        for part in parts:
            if part.l1 or part.l2:
                raise ValueError(f"atoms={part!r} brings a penalty; loadings lie in sets only.")
        return parts

    # -- tensors in, tensors out

    def _rows(self, X: Samples, *, reset: bool) -> Any:
        """Return checked samples as rows, their modes in groups."""
        X = checked_numbers(X if reset else in_axes(self, X))
        axes = Axes.of(X, self.reshape)
        if reset:
            self.axes_ = axes
        else:
            self.axes_.check_same(axes)
        return check_X(self, self.axes_.flatten(X), reset=reset)

    def _place(self, row: int, column: int) -> str:
        """Return the words for an entry of the rows, by the axes of the samples."""
        return f"sample {row}, {self.axes_.place(column)}"

    def _samples(self, rows: Matrix) -> Any:
        """Return rows as tensors."""
        return self.axes_.restore(rows)

    @property
    def radius_(self) -> float | None:
        """The number c' that the radius of the updater stands for."""
        updater = self._make_algorithm().updater
        return cast(LoadingSweep, updater).bound(self.n_components)

    @property
    def loadings_(self) -> list[NDArray]:
        """The loading matrices, (I_k, n_components), read-only."""
        check_is_fitted(self)
        return list(self.state_.dictionary.matrices)

    @property
    def components_(self) -> NDArray:
        """The atoms as tensors, (n_components, I_1, ..., I_n), formed on demand."""
        check_is_fitted(self)
        return self._samples(self.state_.dictionary.atoms())

    @property
    def weights(self) -> NDArray:
        """Ones: the weights of the atoms as a CP tensor."""
        check_is_fitted(self)
        return np.ones(self.state_.dictionary.shape[0], self.state_.dictionary.dtype)

    def to_cp(self, X: Samples) -> tuple[NDArray, list[NDArray]]:
        """Return samples as a CP tensor whose first factor is their codes: weights and factors.

        Parameters
        ----------
        X : array-like of shape (n_samples, I_1, ..., I_n)
        """
        return self.weights, [self.transform(X), *self.loadings_]

    def labelled_loadings(self) -> list[Any]:
        """Return the loadings with the names and coordinates of the xarray data learned from.

        There is one array per group. A group of several modes has an axis for each; the last axis
        is "atom".

        Raises
        ------
        ValueError
            For models that have not learned from an xarray.DataArray.
        """
        check_is_fitted(self)
        return self.axes_.label(self.loadings_)

    # -- settings

    def _settings(self) -> list[Any]:
        return [*super()._settings(), vars(self).get("norm_"), vars(self).get("axes_")]

    # -- the start

    def _starting_from(self, atoms: NDArray) -> list[NDArray]:
        """Return the loadings of the rank-one tensors nearest to atoms."""
        return figures.nearest_loadings(atoms, self.axes_.sizes, self.algorithm_.objective.atoms)

    def _first_batches(self, batches: Iterator[Batch], n_rows: float) -> list[Batch]:
        begun = self._learner.has_state
        taken = super()._first_batches(batches, n_rows)
        if begun:  # the first batch that known loadings meet sets their bound
            self.norm_ = figures.batch_norm(taken[-1], self.n_components, len(self.axes_.sizes))
        return taken

    def _starting_dictionary(self, batch: Batch) -> Loadings:
        """Return random loadings, those of rank-one tensors near samples, or those given."""
        self.norm_ = figures.batch_norm(batch, self.n_components, len(self.axes_.sizes))
        parts: Any = self.algorithm_.objective.atoms
        sizes, r = self.axes_.sizes, self.n_components
        rows = figures.starting_loadings(self.init, batch, sizes, r, parts, self._learner.rng)
        inside = [
            project(U.astype(np.float64), part, self.fixed_components)
            for part, U in zip(parts.sets, rows, strict=True)
        ]
        return Loadings([U.T.astype(batch.X.dtype) for U in inside])

    # -- files

    def _validate_learned(self) -> None:
        super()._validate_learned()
        matrices, axes = self.state_.dictionary.matrices, self.axes_
        if [len(matrix) for matrix in matrices] != list(axes.sizes):
            raise ValueError("loadings and axes that do not fit together")

    # -- figures

    def stationarity(self, X: Samples) -> float:
        r"""Return how far the loadings are from a critical point of the mean loss on samples.

        With :math:`G_i` the gradient of the mean loss in :math:`U^{(i)}` at optimal codes and
        :math:`L_i` the largest eigenvalue of its matrix :math:`\bar A`, the root of :math:`\sum_i
        \|U^{(i)} - P(U^{(i)} - G_i / L_i)\|^2` over that of :math:`\sum_i \|U^{(i)}\|^2`.

        Parameters
        ----------
        X : array-like of shape (n_samples, I_1, ..., I_n)
        """
        sets, dictionary = self.algorithm_.objective.atoms.sets, self.state_.dictionary
        return figures.loadings_stationarity(
            self._measured(X), dictionary, sets, self.fixed_components
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = tags.input_tags
        inputs.two_d_array, inputs.three_d_array = self.reshape is None, True
        return tags
