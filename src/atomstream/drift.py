"""A detector of changes in a scalar: the public name of `atomstream.watch.drift`."""

from atomstream.watch.drift import DriftDetector, Shares, loss_of

__all__ = ["DriftDetector", "Shares", "loss_of"]
