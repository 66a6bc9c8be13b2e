"""Settings that keep the conditions of the theorem on atoms made of samples."""

from typing import Any, Self, cast

from atomstream.estimators._theorems import settled_model


class ConvexTheorem:
    """What leads inside the theorem of online convex matrix factorization."""

    @classmethod
    def convergent(
        cls,
        n_components: int = 5,
        *,
        assignment: str = "random",
        ridge: float = 1e-3,
        damping: float = 1e-3,
        **params: Any,
    ) -> Self:
        """Make a model whose settings meet the conditions of Theorem 1 that settings can meet.

        All rows weigh the same and come once, in the order of the stream; codes are unique and the
        surrogate is strictly convex. What remains are conditions on the data: independent samples
        from a bounded distribution that is nearly uniform on the hull of its clusters.
        docs/algorithms/convex-mf.md lists each condition and what stays outside.

        Parameters
        ----------
        n_components : int, default=5
            Number of atoms.
        assignment : {"random", "labels"}, default="random"
            The two cases that the theorem covers: R_u, and R_r with known labels.
        ridge, damping : float, default=1e-3
            Twice the paper's kappa, and its kappa_1, each above 0.
        **params
            Further parameters of the model, but for those that the theorem settles.

        Returns
        -------
        model

        Raises
        ------
        ValueError
            For a parameter that the theorem settles, a constant that is not above 0, and another
            assignment.

        References
        ----------
        Agarwal, Peng, Milenkovic (2019), Theorem 1 with (A.1) to (A.3).

        Examples
        --------
        >>> from atomstream import OnlineConvexMF
        >>> model = OnlineConvexMF.convergent(3, random_state=0)
        >>> model.assignment, model.schedule, model.n_epochs, model.shuffle
        ('random', 'harmonic', 1, False)
        """
        if assignment not in ("random", "labels"):
            raise ValueError(
                f"assignment={assignment!r} is not covered by the theorem; choose 'random' or, "
                "with known labels, 'labels'."
            )
        settled = {"schedule": "harmonic", "n_epochs": 1, "shuffle": False, "missing": False}
        constants = {"ridge": ridge, "damping": damping}
        params |= {"n_components": n_components, "assignment": assignment}
        return cast(Self, settled_model(cls, settled, constants, **params))
