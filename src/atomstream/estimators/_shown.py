"""What a model looks like in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Shown:
    """A model with atoms that can be drawn: `plot`, and thumbnails below its parameters."""

    def plot(self, **options: Any) -> Figure:
        """Draw the atoms in the way that suits the model.

        Parameters
        ----------
        **options
            As for the plot that is chosen, of those in `atomstream.plots`; for models of rows also
            ``shape``, the size of the patches that atoms are drawn as.

        Returns
        -------
        matplotlib.figure.Figure
            One panel for each atom, the most important first.
        """
        from atomstream.viz.plots.models import model

        check_is_fitted(self)
        return model(self, **options)

    def _thumbnails(self) -> str:
        from atomstream.viz.plots.models import thumbnails

        return thumbnails(self) if self.__sklearn_is_fitted__() else ""  # type: ignore[attr-defined]

    def _repr_html_inner(self) -> str:
        html: str = super()._repr_html_inner()  # type: ignore[misc]
        return html + self._thumbnails()

    def _repr_mimebundle_(self, **known: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**known)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._thumbnails()
        return bundle
