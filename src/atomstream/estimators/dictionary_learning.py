"""Online dictionary learning with codes and atoms in convex sets."""

from dataclasses import KW_ONLY
from typing import ClassVar

from atomstream.base import ArrayLike
from atomstream.estimators import _parameters
from atomstream.estimators._estimator import estimator
from atomstream.estimators._matrix import _OnlineMatrixFactorization
from atomstream.estimators.registry import (
    CODERS,
    AlphaChoice,
    CoderChoice,
    SetChoice,
    Start,
    resolve,
)
from atomstream.loop import Scaling
from atomstream.losses import Loss
from atomstream.penalties import Free, Nonnegative, NonnegativeBall, UnitBall
from atomstream.penalties.base import Penalty
from atomstream.updates import Updater


@estimator
class OnlineDictionaryLearning(_OnlineMatrixFactorization):
    r"""Dictionary learning on a stream, with codes and atoms in any of the convex sets offered.

    By default codes are signed and sparse and atoms lie in the unit ball: the mean over the stream
    of
    :math:`\tfrac12 \|x - hD\|_2^2 + alpha \|h\|_1 + \tfrac{ridge}{2} \|h\|_2^2` is minimised.

    Parameters
    ----------
    n_components : int, default=20
        Number of atoms.
    updater : "auto" or part of `atomstream.updates`, default="auto"
        What updates the atoms; "auto" is `atomstream.updates.BlockCoordinate`.
    damping : float, default=0.0
        As in `OnlineNMF`.
    scale : {"none", "std", "max", "log1p", "tfidf", "zscore"} or Scaling, default="none"
        Scale of the columns, as in `OnlineNMF`. "zscore" also subtracts their means, for data far
        from zero: in a stream offset and scale follow the first 1,000 rows, which are measured anew
        whenever they move, and stay from then on; `fit` takes those of all rows.
        ``Scaling.of(offset, scale)`` gives both. `inverse_transform` adds the offset again.
    codes : str or penalty part, default="auto"
        Set of the codes: "free", "nonnegative", "box", "simplex", "unit_ball", "nonnegative_ball"
        or a part of `atomstream.penalties`. "auto" is "free", and "nonnegative" where the coder or
        the updater that was chosen needs that.
    atoms : str or penalty part, default="auto"
        Set of the atoms, likewise, or "unit_sphere": atoms of length one. "auto" is "unit_ball",
        and "nonnegative_ball" where the coder or the updater that was chosen needs that.
    coder : str or coder part, default="auto"
        As in `OnlineNMF`, for the squared loss.
    init : str or array of shape (n_components, n_features), default="samples"
        As in `OnlineNMF`.
    fixed_components : int, default=0
        As in `OnlineNMF`.
    missing : bool, default=False
        As in `OnlineNMF`.
    alpha : float or "auto", default="auto"
        Strength of the l1 penalty on the codes, in the units of the data times their length. "auto"
        is 0.1, and 0 where the set of the codes has a penalty of its own or takes none (`TopK`).
    ridge : float or "auto", default="auto"
        As in `OnlineNMF`.
    schedule : str or callable, default="power"
        As in `OnlineNMF`.
    batch_size : int, default=256
        Rows per step of `fit`.
    n_epochs : int, optional
        As in `OnlineNMF`.
    shuffle : bool, default=True
        As in `OnlineNMF`.
    n_jobs, max_time : int and float, optional
        As in `OnlineNMF`.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    components_, scaling_, importance_, memory_, n_steps_, n_samples_seen_, n_reseeded_,
    batch_objective_
        As in `OnlineNMF`.

    Raises
    ------
    ValueError
        For data that are not finite or of another number of features, and for settings out of
        range; the model stays as it was.
    IncompatiblePartsError
        When a chosen coder cannot serve the chosen sets.

    References
    ----------
    Lyu, Needell, Balzano (2020), eqs. (3), (25), (26); Mairal, Bach, Ponce, Sapiro (2010),
    Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import OnlineDictionaryLearning
    >>> X = np.random.default_rng(0).standard_normal((500, 8))
    >>> model = OnlineDictionaryLearning(n_components=12, alpha=0.2, random_state=0)
    >>> for start in range(0, 500, 100):
    ...     model = model.partial_fit(X[start : start + 100])
    >>> model.transform(X).shape
    (500, 12)
    """

    PARAMETERS: ClassVar = _parameters.DICTIONARY

    n_components: int = 20
    _: KW_ONLY
    updater: object = "auto"
    alpha: AlphaChoice = "auto"  # type: ignore[assignment]
    damping: float = 0.0
    scale: str | Scaling = "none"
    codes: SetChoice = "auto"
    atoms: SetChoice = "auto"
    coder: CoderChoice = "auto"
    init: Start = "samples"
    fixed_components: int | ArrayLike = 0
    missing: bool = False
    ridge: float | str = "auto"  # type: ignore[assignment]

    @property
    def BOTH_SIGNS(self) -> str:  # type: ignore[override]  # noqa: N802 - as of the other models
        """What fits data of both signs, where chosen parts have made the sets nonnegative."""
        return (
            "choose coder='auto' and updater='auto'" if "auto" in (self.codes, self.atoms) else ""
        )

    def _auto_sets(self, updater: Updater, loss: Loss) -> tuple[Penalty, Penalty]:
        """Return signed sets, or nonnegative ones where the chosen coder or updater needs them."""
        coder = resolve("coder", self.coder, CODERS, "encode")
        needs = coder.needs, updater.needs
        codes, atoms = (
            any("nonnegative" in each.get(role, ()) for each in needs)
            for role in ("codes", "atoms")
        )
        return Nonnegative() if codes else Free(), NonnegativeBall() if atoms else UnitBall()
