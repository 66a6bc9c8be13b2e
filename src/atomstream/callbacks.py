"""Callbacks of fits: the public name of `atomstream.watch.callbacks`."""

from atomstream.watch.callbacks import EarlyStopping, History, LearningBar

__all__ = ["EarlyStopping", "History", "LearningBar"]
