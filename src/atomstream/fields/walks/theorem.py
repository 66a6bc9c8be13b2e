"""The model whose settings keep the conditions of the paper's theorems."""

from typing import Any, Self, cast

from atomstream.base import check_count
from atomstream.estimators._theorems import settled_model


class WalkTheorem:
    """What leads inside the theorems of the online factorization of random walks."""

    @classmethod
    def convergent(
        cls, n_components: int = 10, *, step: float = 0.01, tau: int = 2, **params: Any
    ) -> Self:
        """Make a model that is Algorithm 1 of the paper, which Theorems 1 and 2 are about.

        Steps have one length, every tau-th transition is learned from, and the result is the last
        iterate. The theorems describe the limit of steps of length 0: for a fixed one the squared
        sine to the truth falls to a level that is proportional to it, and stays there.
        docs/algorithms/random-walks.md lists each condition.

        Parameters
        ----------
        n_components : int, default=10
            The rank r.
        step : float, default=0.01
            The paper's eta, above 0.
        tau : int, default=2
            At least 2. The paper's bound is 2 / Phi^2 log(sqrt(mu_max / mu_min) / eta), with Phi
            the `atomstream.diagnostics.merging_conductance` of the chain.
        **params
            Further parameters of the model, but for ``averaging`` and ``scaling``.

        Returns
        -------
        model

        Raises
        ------
        ValueError
            For a parameter that the theorems settle, a step that is not above 0, and tau below 2.

        References
        ----------
        Yang, Braverman, Zhao, Wang, Algorithm 1, Theorems 1 and 2, and section 4.1 for tau.

        Examples
        --------
        >>> from atomstream import RandomWalkFactorization
        >>> model = RandomWalkFactorization.convergent(3, step=0.02, tau=4)
        >>> model.step, model.tau, model.averaging, model.scaling
        (0.02, 4, False, 'none')
        """
        params |= {"n_components": n_components, "tau": check_count("tau", tau, least=2)}
        settled = {"averaging": False, "scaling": "none"}
        return cast(Self, settled_model(cls, settled, {"step": step}, **params))
