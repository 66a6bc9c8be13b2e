"""A figure in a notebook that follows a fit."""

import io
import math
import time
from typing import Any

from atomstream.base import library
from atomstream.looks.canvas import BLUE, ORANGE, TEXT, Figure, empty
from atomstream.watch import History, alarms_of

__all__ = ["LiveFigure"]

CURVES = {
    "objective": "objective before the update",
    "moved": "change of the atoms by a batch",
    "memory": "samples that weigh",
    "drift": "drift (1: an alarm)",
}


class LiveFigure(History):
    """A history that is drawn while the model learns, in Jupyter and other notebooks.

    Parameters
    ----------
    every : float, default=1
        Seconds between pictures.
    max_points : int, default=2000
        As in `History`.

    Raises
    ------
    MissingLibraryError
        Where IPython or matplotlib is not installed.

    Attributes
    ----------
    n_drawn : int
        Number of pictures shown.
    """

    def __init__(self, every: float = 1.0, max_points: int = 2000) -> None:
        super().__init__(max_points)
        self.pause, self.n_drawn = every, 0
        # Asked for here rather than after the first batch.
        library("IPython.display", "Live figures")
        library("matplotlib", "Pictures")

    def setup(self, estimator: object, context: Any) -> None:
        """Make room for the figure."""
        super().setup(estimator, context)
        self._place: Any = None
        self.n_drawn, self._last = 0, time.monotonic()

    def teardown(self, estimator: object, context: Any) -> None:
        """Draw the last picture."""
        if self.n_samples:
            self._show()
        self._place = None

    def note(self, learner: Any) -> None:
        """Draw after a batch, if it is time."""
        super().note(learner)
        # Drawing takes longer than many a batch.
        if time.monotonic() - self._last >= self.pause:
            self._show()
            self._last = time.monotonic()

    def figure(self) -> Figure:
        """Return the history as a figure of four curves."""
        figure = empty(9.0, 4.2)
        panels = figure.subplots(2, 2, sharex=True)
        for axes, (name, title) in zip(panels.ravel(), CURVES.items(), strict=True):
            axes.plot(self.n_samples, self.points[name], color=BLUE)
            axes.set_title(title, fontsize=TEXT)
            known = [value for value in self.points[name] if math.isfinite(value)]
            # Other curves may be zero, which a logarithm has no place for.
            if name == "objective" and known and 0 < min(known) < max(known) / 10:
                axes.set_yscale("log")
            for n_samples in alarms_of(self):
                axes.axvline(n_samples, color=ORANGE, linestyle="--")
        for axes in panels[1]:
            axes.set_xlabel("samples")
        return figure

    def _show(self) -> None:
        shown, buffer = library("IPython.display", "Live figures"), io.BytesIO()
        self.figure().savefig(buffer, format="png", dpi=80)
        picture = shown.Image(buffer.getvalue())
        # The same place again and again: a new picture for each batch would fill the notebook.
        if self._place is None:
            self._place = shown.display(picture, display_id=True)
        else:
            self._place.update(picture)
        self.n_drawn += 1
