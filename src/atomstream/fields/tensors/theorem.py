"""Settings that keep the conditions of the theorem on CP-dictionaries."""

import math
from typing import Any, Self, cast

from atomstream.coders.auto import Auto
from atomstream.coders.tolerances import RootTolerance
from atomstream.estimators._theorems import check_bounded, settled_model
from atomstream.fields.tensors.update import LoadingSweep
from atomstream.penalties import Box
from atomstream.schedules import check_conditions

# No code of data whose length is below 3e4 comes near: with ridge 1e-3 it is at most |x| / 0.03.
MAX_CODE = 1e6


class CPTheorem:
    """What leads inside the theorem of online CP-dictionary learning."""

    @classmethod
    def convergent(
        cls,
        n_components: int = 10,
        *,
        ridge: float = 1e-3,
        radius: float | str = "auto",
        n_sweeps: int = 5,
        **params: Any,
    ) -> Self:
        """Make a model whose settings meet the conditions of Theorem 1 that settings can meet.

        Codes and loadings lie in compact sets, codes are unique and become exact, no loading matrix
        moves further than a multiple of the weight of its batch, no atom is re-seeded or scaled,
        and ``fit`` makes one pass in the order of the samples. What remains are conditions on the
        data: bounded samples from a chain that is irreducible and aperiodic.
        docs/algorithms/cp-dictionaries.md lists each condition and what keeps it.

        Parameters
        ----------
        n_components : int, default=10
            Number of atoms.
        ridge : float, default=1e-3
            Above 0: makes the codes unique, and with them the loss smooth.
        radius : "auto" or float, default="auto"
            The thesis's c', as of `atomstream.updates.LoadingSweep`.
        n_sweeps : int, default=5
            Sweeps over all modes per batch: the more, the nearer each block to its minimum.
        **params
            Further parameters of the model, but for those that the theorem settles. The sets
            ``codes`` and ``atoms`` must be bounded; codes are by default in a box that reaches to
            1e6. The ``schedule`` must keep (A3).

        Returns
        -------
        model

        Raises
        ------
        ValueError
            For a parameter that the theorem settles, and for a condition that is not met.

        References
        ----------
        Strohmeier (2023), Theorem 1 of chapter 4 with (A1) to (A4).

        Examples
        --------
        >>> from atomstream import OnlineCPDictionary
        >>> model = OnlineCPDictionary.convergent(3, random_state=0)
        >>> model.codes, model.schedule, model.n_epochs, model.shuffle
        (Box(low=0.0, high=1000000.0, l1=0.0, l2=0.0), 'harmonic', 1, False)
        """
        if radius is None:
            raise ValueError("radius must be a number or 'auto' for the theorem to hold, got None.")
        settled = {
            # As exact as by default at first, and ever more so from step 100 on.
            "coder": Auto(tol=RootTolerance(K=0.01, most=1e-3)),
            "updater": LoadingSweep(n_sweeps=n_sweeps, radius=radius, patience=math.inf),
            **{"n_epochs": 1, "shuffle": False, "missing": False},
        }
        params = {"codes": Box(0.0, MAX_CODE), **params, "n_components": n_components}
        model: Any = settled_model(cls, settled, {"ridge": ridge}, **params)
        check_bounded("codes", model.codes, model._codes_set(), "a penalties.Box")
        examples = "'nonnegative_ball', 'unit_ball', 'bounded' or 'simplex'"
        for part in model._sets(1.0):
            check_bounded("atoms", model.atoms, part, examples)
        if not check_conditions(model._schedule()).met:
            raise ValueError(
                f"schedule={model.schedule!r} breaks condition (A3) of the theorem; 'harmonic' and "
                "'power' keep it."
            )
        return cast(Self, model)
