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
        from atomstream.looks import drawings
        from atomstream.looks.look import look_of

        check_is_fitted(self)
        if "shape" in options:
            return drawings.atoms(self, **options)  # type: ignore[arg-type]
        return look_of(self).plot(self, **options)

    def _thumbnails(self) -> str:
        from atomstream.looks.look import look_of

        fitted = self.__sklearn_is_fitted__()  # type: ignore[attr-defined]
        return look_of(self).thumbnails(self) if fitted else ""

    def _repr_html_inner(self) -> str:
        html: str = super()._repr_html_inner()  # type: ignore[misc]
        return html + self._thumbnails()

    def _repr_mimebundle_(self, **known: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**known)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._thumbnails()
        return bundle
