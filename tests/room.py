"""Bounds on what was learned, and how much of its room each figure used.

What is learned depends on the processor: kernels of BLAS add in another order, and an alternating
minimisation goes on from the difference. A bound therefore leaves room. A test takes the fixture
``room``, which marks it as one of these; ``make test`` prints the figures that are nearest to their
bounds, and ``make test-elsewhere`` asks that none uses more than `MOST_ROOM` of its room on any of
the settings that it tries.
"""

from dataclasses import dataclass, field

import numpy as np

MOST_ROOM = 0.7
ELSEWHERE = "ATOMSTREAM_TEST_ELSEWHERE"  # set by make test-elsewhere: the room must be left


@dataclass
class Room:
    """The bounds of one test; every method asserts one, and takes notes of the room it used."""

    used: list[float] = field(default_factory=list)

    def error(self, value, *, at_most):
        """Bound what is best at 0: it uses the share ``value / at_most``."""
        self._note(value, at_most, 0.0)

    def ratio(self, value, *, at_most):
        """Bound what is as good as another at 1: what lies above 1 counts."""
        self._note(value, at_most, 1.0)

    def share(self, value, *, at_least):
        """Bound a share, a cosine or another figure that is best at 1: what lacks counts."""
        self._note(1.0 - float(value), 1.0 - at_least, 0.0)

    def gain(self, value, *, at_least):
        """Bound a figure from below that knows no best."""
        self._note(at_least, max(float(value), 0.0), 0.0)

    def fall(self, value, start, *, at_least):
        """Bound from below the share of ``start`` by which a figure has fallen."""
        self.gain(1.0 - float(value) / float(start), at_least=at_least)

    def decibels(self, value, *, at_least):
        """Bound decibels from below: errors are compared, 20 decibels are a factor of ten."""
        self._note(10.0 ** (-float(value) / 20), 10.0 ** (-at_least / 20), 0.0)

    def near(self, value, wanted, *, rel=0.0, abs=0.0):
        """Bound the distance of a figure, or of each entry of an array, from the wanted one."""
        value, wanted = np.asarray(value, dtype=float), np.asarray(wanted, dtype=float)
        self._note((np.abs(value - wanted) / (rel * np.abs(wanted) + abs)).max(), 1.0, 0.0)

    def between(self, value, low, high):
        """Bound a figure on two sides: the distance from the middle counts."""
        self._note(abs(float(value) - (low + high) / 2), (high - low) / 2, 0.0)

    def _note(self, value, bound, best):
        missed = f"{value:.4g} stands against a bound of {bound:.4g}"
        assert bound > best, missed
        used = (float(value) - best) / (float(bound) - best)
        self.used.append(max(used, 0.0) if used == used else float("inf"))
        assert value <= bound, missed
