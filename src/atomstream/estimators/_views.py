"""Learned attributes that are views of another object's."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted


def view(path: str, doc: str) -> property:
    """Return a property of a fitted model that shows an attribute of one of its parts.

    Parameters
    ----------
    path : str
        Where the attribute stands, as in "learner_.importance_".
    doc : str
    """
    get = attrgetter(path)

    def shown(model: BaseEstimator) -> Any:
        check_is_fitted(model)
        return get(model)

    return property(shown, doc=doc)
