"""Callbacks of fits: the public name of `atomstream.watch.callbacks`."""

from atomstream.watch.callbacks import Callback as Callback
from atomstream.watch.callbacks import EarlyStopping, History, LearningBar
from atomstream.watch.callbacks import Learner as Learner
from atomstream.watch.callbacks import TaskContext as TaskContext

__all__ = ["EarlyStopping", "History", "LearningBar"]
