"""Which atom of one dictionary is which of another."""

from dataclasses import dataclass

import numpy as np
import scipy  # what is in it is loaded at its first use
from numpy.typing import NDArray

from atomstream.base import checked_array, counted, in_order, known_names, names_of, order_of, unit


@dataclass(frozen=True)
class Alignment:
    """Pairs of atoms, one-to-one, with the largest sum of similarities.

    Attributes
    ----------
    order : ndarray of int of shape (n_components of the first,)
        For each atom of the first dictionary its partner in the second, -1 where the second has
        none left.
    similarity : ndarray of shape (n_components of the first,)
        Cosine of the angle between partners, without its sign where signs are free; 0 without a
        partner.
    sign : ndarray of shape (n_components of the first,)
        -1 where the partner points the other way, else 1.
    """

    order: NDArray
    similarity: NDArray
    sign: NDArray

    @property
    def stability(self) -> float:
        """Mean similarity of the atoms that have a partner."""
        return float(self.similarity[self.order >= 0].mean())


def align(model_a: object, model_b: object) -> Alignment:
    """Match the atoms of two dictionaries by the cosines of their angles.

    Signs are free, and not counted, if both dictionaries have negative entries.

    Parameters
    ----------
    model_a, model_b : fitted estimator, or array of shape (n_components, n_features)
        The models or dictionaries whose atoms are matched; features are found by their names where
        both have some.

    Returns
    -------
    Alignment
        The order of the second that matches the first, and the cosines.

    Raises
    ------
    ValueError
        For dictionaries over different numbers of features, or over features of other names.

    References
    ----------
    Crouse (2016), "On implementing 2D rectangular assignment algorithms", as implemented in SciPy.

    Examples
    --------
    >>> from atomstream import align
    >>> align([[1.0, 0.0], [0.0, 2.0]], [[0.0, 1.0], [1.0, 0.0]]).order
    array([1, 0])
    """
    rows = [_unit_atoms(model) for model in (model_a, model_b)]
    names = [known_names(model) or names_of(model) for model in (model_a, model_b)]
    order = order_of(names[1], names[0], "model_b", "has other feature names than model_a")
    rows[1] = in_order(rows[1], order)
    if rows[0].shape[1] != rows[1].shape[1]:
        raise ValueError(
            f"The atoms have {rows[0].shape[1]} and {counted(rows[1].shape[1], 'feature')}; "
            "they must agree."
        )
    cosines = rows[0] @ rows[1].T
    signed = all((part < 0).any() for part in rows)
    first, second = assigned(np.abs(cosines) if signed else cosines)
    order = np.full(len(rows[0]), -1)
    similarity = np.zeros(len(rows[0]))
    sign = np.ones(len(rows[0]))
    order[first], found = second, cosines[first, second]
    similarity[first] = np.abs(found) if signed else found
    sign[first] = np.where(signed & (found < 0), -1.0, 1.0)
    return Alignment(order, similarity, sign)


def assigned(values: NDArray) -> tuple[NDArray, NDArray]:
    """Return rows and their columns, each at most once, of the largest sum."""
    rows, columns = np.nonzero(values == values.max(axis=1, keepdims=True, initial=-np.inf))
    # No sum exceeds that of the largest of each row: where these have columns of their own, they
    # are the only best pairs. Atoms that hardly moved since a snapshot always do.
    if len(rows) == len(values) == len(np.unique(columns)):
        return rows, columns
    return scipy.optimize.linear_sum_assignment(values, maximize=True)


def _unit_atoms(model: object) -> NDArray:
    atoms = checked_array(getattr(model, "components_", model), "A dictionary", np.float64)
    if atoms.ndim != 2:
        raise ValueError(
            "A dictionary must be a fitted model or of shape (n_components, n_features), got "
            f"{atoms.shape}."
        )
    if not np.isfinite(atoms).all():
        raise ValueError("A dictionary must be finite; leave atoms with missing entries out.")
    return unit(atoms)
