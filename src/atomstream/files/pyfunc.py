"""Saved models as Python functions of MLflow: ``loader_module="atomstream.files.pyfunc"``.

MLflow keeps the file that `atomstream.save` wrote and calls this module to open it, so nothing is
unpickled, and this library does not import MLflow.
"""

from copy import copy
from pathlib import Path
from typing import Any

from atomstream.files.codec import load


class ServedModel:
    """A saved model with the one method that MLflow calls.

    Parameters
    ----------
    path : path
        Of a file that `atomstream.save` wrote.
    """

    def __init__(self, path: str | Path) -> None:
        self.model = load(path)

    def predict(self, data: Any, params: dict[str, Any] | None = None) -> Any:
        """Return what the model says of data.

        Models of rows and tensors return codes, as a frame for a frame; models of documents the
        shares of topics (of a sequence of str, or a frame with one column), models of walks the
        cluster of each state, and models of series the rows that follow those learned from.

        Parameters
        ----------
        data : frame, array or sequence
            A model of series does not look at it.
        params : dict, optional
            ``{"horizon": 3}`` for a model of series: how many rows to predict, by default 1.

        Returns
        -------
        ndarray or frame

        Raises
        ------
        ValueError
            For models of other kinds of data, such as images.
        """
        model = self.model
        # Models of other data than rows say themselves what they are a function of.
        if hasattr(model, "_served"):
            return model._served(data, params or {})
        if hasattr(data, "iloc") and hasattr(model, "set_output") and hasattr(model, "fit_stream"):
            return copy(model).set_output(transform="pandas").transform(data)
        if not hasattr(model, "state_"):
            raise ValueError(
                f"A {type(model).__name__} is not a function of rows; open it with atomstream.load "
                "and call its own methods."
            )
        return model.transform(data)


def _load_pyfunc(path: str) -> ServedModel:
    """Return the model that MLflow asks for."""
    return ServedModel(path)
