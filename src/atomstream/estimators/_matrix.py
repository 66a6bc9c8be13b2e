"""The algorithm that the parameters of both matrix estimators stand for."""

import math
import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, Choice, Matrix, Samples, are_fixed, dense, fixed_atoms
from atomstream.coders import Auto
from atomstream.estimators import registry
from atomstream.estimators._base import OnlineDictionary
from atomstream.estimators._columns import like_given
from atomstream.estimators._domain import check_domain, in_domain
from atomstream.estimators._given import by_rows, like
from atomstream.estimators._validation import (
    warn_of_no_majoriser,
)
from atomstream.exceptions import DataWarning
from atomstream.loop import Algorithm, Scaling, dominance, explainer_for
from atomstream.losses import Loss
from atomstream.memory.gram import Aggregates
from atomstream.penalties.base import Penalty
from atomstream.problem import Batch, Objective
from atomstream.updates import Updater
from atomstream.updates.block_coordinate import BlockCoordinate
from atomstream.updates.reseeding import Reseeding

UNSCALED = Scaling()
MAX_SWEEPS = 100_000  # over the atoms, where only rounding ends them
ONE_PASS = {"schedule": "harmonic", "n_epochs": 1, "shuffle": False, "missing": False}


class _OnlineMatrixFactorization(OnlineDictionary):
    """The algorithm of both estimators; they differ in their sets."""

    # Settled where they are no parameters.
    loss: Any = "squared"
    updater: Any = "auto"
    codes: Any = "auto"
    atoms: Any = "auto"
    damping: float = 0.0
    scale: Any
    coder: Any = "auto"

    def _make_algorithm(self) -> Algorithm:
        """Return the parts that the parameters stand for; the updater gives sets and coder."""
        loss = registry.resolve_loss(self.loss)
        fixed = fixed_atoms(self.fixed_components, self.n_components)
        # "auto" gives way to what was chosen: the updater to the set of the atoms, sets to it.
        known = registry.SETS | {"auto": lambda: None}
        atoms = registry.resolve("atoms", self.atoms, known, "prox")
        updater = registry.resolve_updater(self.updater, loss, fixed, self.damping, atoms)
        bounded, sized = self._auto_sets(updater, loss)
        codes = registry.resolve("codes", self.codes, known, "prox") or bounded
        codes, atoms = registry.with_elastic_net(codes, self.alpha, self._ridge), atoms or sized
        coder = registry.resolve_coder(self.coder, loss, codes, auto=updater.coder)
        objective = Objective(loss, codes, atoms)
        reseeding = Reseeding(updater.patience)
        explainer = explainer_for(updater, objective)
        return Algorithm(objective, coder, updater, reseeding, bool(self.missing), explainer)

    def _auto_sets(self, updater: Updater, loss: Loss) -> tuple[Penalty, Penalty]:
        """Return the sets of codes and atoms where none are chosen."""
        return updater.sets(loss)

    def _choices(self) -> dict[str, Choice]:
        """Return what settings became, with the scale where columns have one."""
        found, scaling = super()._choices(), self.scaling_
        if scaling.kind != "none":
            found["scale"] = Choice.given(scaling.kind)
        auto = getattr(self._learner, "ridge", Choice(0.0, "no entry has been missing"))
        return found | {"ridge": auto if self.ridge == "auto" else Choice.given(self.ridge)}

    # -- the penalty that holds codes back where entries are missing

    @property
    def _ridge(self) -> float:
        """The number that ``ridge`` stands for: 0 until entries are missing."""
        if self.ridge != "auto":
            return self.ridge
        found = getattr(vars(self).get("_learner"), "ridge", None)
        return 0.0 if found is None else float(found.value)

    def _settings(self) -> list[Any]:
        return [*super()._settings(), getattr(vars(self).get("_learner"), "ridge", None)]

    def _learn_ridge(self, rows: Any, known: dict[str, Any]) -> None:
        """Find the ridge in the first rows with missing entries, unless it was given."""
        if self.ridge == "auto" and self.missing and not hasattr(self._learner, "ridge"):
            from atomstream.estimators._missing import find_ridge

            find_ridge(self, rows, known)

    # -- the scale of the columns

    @property
    def scaling_(self) -> Scaling:
        """The scale of the columns; `components_` are in its units."""
        return getattr(vars(self).get("_learner"), "scaling", UNSCALED)

    @property
    def _wanted_scale(self) -> Scaling:
        """The scale that the parameter stands for, before it has seen rows unless it was given."""
        return self.scale if isinstance(self.scale, Scaling) else Scaling(self.scale)

    def _learn_scale(self, X: Any, weights: NDArray | None, *, whole: bool = False) -> None:
        """Learn the scale of the columns, and bring what was learned before into its units.

        Before that, warn of atoms that are too many, and where the default end of `fit` will not be
        that of batch methods.

        The sums of the squared loss follow exactly: with codes as they are, B is what it would have
        been. Those of other losses do not, so there a column keeps the scale that it has when it is
        first learned from. A later pass over the same data changes no scale.
        """
        if whole:
            _warn_of_many_atoms(self.n_components, X.shape, self.algorithm_.objective.codes)
            # Now, for batches have the rows in another order.
            check_domain(X, self.algorithm_.objective.loss, weights, self._place)
        if whole and self.n_epochs is None and self.updater == "auto":
            warn_of_no_majoriser(self.algorithm_.objective.loss)
        run = self._learner
        if self.scale == "none" and "scaling" not in vars(run):
            if whole and self.algorithm_.objective.loss.quadratic:
                names = getattr(self, "feature_names_in_", None)
                X, weights = by_rows(X, weights)
                if sentence := dominance(X, names, "scale='std'", weights):
                    warnings.warn(sentence, DataWarning, stacklevel=5)  # the caller of fit
            return
        X, weights = by_rows(X, weights)
        old = getattr(run, "scaling", UNSCALED if run.has_state else self._wanted_scale)
        if self._wanted_scale.kind != old.kind:
            self._refuse_change(scale=old.kind)
        if run.has_state and math.isfinite(run.clock.horizon):
            return
        moves = run.has_state and isinstance(run.state.memory, Aggregates)
        settled = run.has_state and not moves and not old.centres
        run.scaling = old.learned(X, weights, settled=settled)
        if old.centres:
            self._recentre(old)
        elif moves:
            self._rescale(old.divisor / run.scaling.divisor, old.energy)

    def _rescale(self, factor: NDArray, energy: NDArray) -> None:
        """Multiply every feature of memory and atoms by its number, within the set of the atoms."""
        if np.all(factor == 1):
            return
        for state in self._learner.states:
            before = state.dictionary.atoms()
            state.memory.rescale_features(factor, energy)
            atoms = self.algorithm_.objective.atoms.prox(
                (before * factor).astype(before.dtype), 0.0
            )
            stays = are_fixed(fixed_atoms(self.fixed_components, len(before)), len(before))
            atoms[stays] = before[stays]
            state.dictionary.assign(atoms)

    def _recentre(self, old: Scaling) -> None:
        """Bring atoms and sums into the units of another offset and scale of the columns.

        Sums over the observed entries of each feature do not follow, and begin anew.
        """
        run = self._learner
        if not run.has_state or run.scaling is old:
            return
        seen, factor = run.seen, old.divisor / run.scaling.divisor
        shift = (old.offset - run.scaling.offset) / old.divisor
        if run.state.memory.grams is None:
            run.state.memory.shift_features(shift, seen.mean_code, seen.mean_row)
        else:
            run.start(run.state.dictionary)
        energy = old.energy + 2 * shift * seen.mean_row + shift**2
        run.seen = replace(seen, mean_row=(seen.mean_row + shift) * factor)
        self._rescale(factor, energy)

    def _check_settings(self) -> None:
        super()._check_settings()
        if self._wanted_scale.centres and self._refuses_negative:
            raise ValueError(
                "scale='zscore' subtracts the means of the columns, and what is left has negative "
                f"entries, which {type(self).__name__} does not take; {self.SIGNED}, or take "
                "scale='std'."
            )

    def _start(self, dictionary: Any) -> None:
        wanted = self._wanted_scale
        if len(wanted.mass):
            self._learner.scaling = wanted
        if wanted.linear and not hasattr(self._learner, "scaling"):
            raise ValueError(
                f"scale={self.scale!r} is learned from data, and from_components has none; scale "
                "data and atoms beforehand, or give the atoms as init to fit."
            )
        super()._start(dictionary)

    def _to_batch(self, X: Matrix, weights: NDArray | None = None, **known: Any) -> Batch:
        """Return checked data in units of the scale, in the domain of the loss, as a batch."""
        loss = self.algorithm_.objective.loss
        X = in_domain(self.scaling_.apply(X), loss, weights, self._place)
        return super()._to_batch(X, weights, **known)

    def _samples(self, rows: Matrix) -> Any:
        """Return rows in the units of the data."""
        return self.scaling_.undo(rows)

    def impute(self, X: Samples, *, mask: ArrayLike | None = None) -> Any:
        """Return the samples with their missing entries filled, in the units of the data.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
            NaN where an entry is missing.
        mask : array-like of bool of the shape of X, optional
            True where an entry was observed.

        Returns
        -------
        ndarray, frame or DataArray of shape (n_samples, n_features)
            As ``X``: with its index, names and labels.
        """
        filled = super().impute(X, mask=mask)
        if self.scaling_.kind == "none":
            return filled
        # What is known stays as it is, to the bit.
        rows = like_given(self, X, dense(self._rows(self._observed(X, mask), reset=False)))
        return like(X, np.where(np.isnan(rows), filled, rows))

    @classmethod
    def convergent(
        cls,
        n_components: int = 20,
        *,
        alpha: float = 0.1,
        ridge: float = 1e-3,
        damping: float = 1e-3,
        n_sweeps: int = 5,
        **params: Any,
    ) -> Self:
        """Make a model whose settings meet every condition of Theorem 4.3 that settings can meet.

        All samples weigh the same, codes are as exact as the relaxed scheme asks, atoms are neither
        re-seeded nor scaled, and ``fit`` makes one pass in the order of the rows. What remains are
        conditions on the data: batches of one size, bounded, from a chain that mixes. See
        docs/algorithms/inside-the-theorem.md for each condition and what keeps it.

        Parameters
        ----------
        n_components : int, default=20
            Number of atoms.
        alpha, ridge, damping : float
            The paper's lambda, kappa_2 and kappa_1 in the units of docs/notation.md, each above 0.
            They bound the codes, make them unique and bound the moves of the atoms.
        n_sweeps : int, default=5
            Sweeps over the atoms per batch: the more, the closer to the exact minimum of Theorem
            4.1.
        **params
            Further parameters of the model, but for those that the theorem settles.

        Returns
        -------
        model

        Raises
        ------
        ValueError
            For a parameter that the theorem settles, a constant that is not above 0, and atoms that
            are not bounded.

        References
        ----------
        Lyu, Needell, Balzano (2020), Theorems 4.1 and 4.3 with (25), (26), (32) and (34).

        Examples
        --------
        >>> from atomstream import OnlineNMF
        >>> model = OnlineNMF.convergent(n_components=8, alpha=0.05, random_state=0)
        >>> model.schedule, model.n_epochs, model.shuffle
        ('harmonic', 1, False)
        """
        from atomstream.estimators._theorems import check_bounded, settled_model

        updater = BlockCoordinate(n_sweeps=n_sweeps, patience=math.inf)
        settled = ONE_PASS | {"coder": "auto", "updater": updater}
        constants = {"alpha": alpha, "ridge": ridge, "damping": damping}
        model = settled_model(cls, settled, constants, n_components=n_components, **params)
        atoms = model._assemble().objective.atoms
        examples = "'nonnegative_ball', 'unit_ball', 'simplex' or 'box'"
        check_bounded("atoms", model.atoms, atoms, examples)
        return model

    @classmethod
    def exact(
        cls,
        n_components: int = 20,
        *,
        alpha: float = 0.1,
        ridge: float = 0.0,
        damping: float = 0.0,
        **params: Any,
    ) -> Self:
        """Make a model that solves equation (3) of the paper in every step, to rounding.

        Codes are optimal, all samples weigh the same, and D_t minimises the surrogate: sweeps over
        the atoms go on until none moves by more than 1e-14. Atoms are neither re-seeded nor scaled,
        and ``fit`` makes one pass in the order of the rows. It is slow: a reference to compare
        with. `convergent` keeps more of what the theorem asks, at less cost.

        Parameters
        ----------
        n_components : int, default=20
            Number of atoms.
        alpha, ridge, damping : float
            The paper's lambda, kappa_2 and kappa_1 in the units of docs/notation.md; equation (3)
            itself has neither kappa.
        **params
            Further parameters of the model, but for those that the equation settles.

        Returns
        -------
        model

        References
        ----------
        Lyu, Needell, Balzano (2020), eqs. (3), (25) and (26).

        Examples
        --------
        >>> import numpy as np
        >>> from atomstream import OnlineNMF
        >>> X = np.random.default_rng(0).random((30, 6))
        >>> model = OnlineNMF.exact(3, alpha=0.05, init=X[:3]).partial_fit(X)
        >>> A, B, D = model.memory_.gram, model.memory_.cross, model.components_
        >>> atom = D[0] + (B[0] - A[0] @ D) / A[0, 0]  # the minimum over it, before its set
        >>> bool(np.allclose(D[0], model.algorithm_.objective.atoms.prox(atom[None], 1.0)))
        True
        """
        from atomstream.estimators._theorems import settled_model

        updater = BlockCoordinate(n_sweeps=MAX_SWEEPS, tol=1e-14, patience=math.inf)
        settled = ONE_PASS | {"coder": Auto(tol=1e-12), "updater": updater}
        params |= {"alpha": alpha, "ridge": ridge, "damping": damping}
        return settled_model(cls, settled, {}, n_components=n_components, **params)


def _warn_of_many_atoms(n_atoms: int, shape: tuple[int, int], codes: Any) -> None:
    """Warn where the rows, or unit vectors, would do as atoms: nothing is learned of the data."""
    own = codes.shape
    limited = codes.l1 or codes.most_nonzero or own is None or own.total or own.high < math.inf
    for n_needed, kind in ((shape[0], "rows"), (math.inf if limited else shape[1], "columns")):
        if n_atoms > n_needed:
            advice = "fewer" if kind == "rows" else "fewer, or alpha > 0 for sparse codes"
            warnings.warn(
                f"n_components={n_atoms} atoms explain any data of {n_needed} {kind}, and so say "
                f"little about these; choose {advice}.",
                DataWarning,
                stacklevel=6,  # the caller of fit
            )
            return
