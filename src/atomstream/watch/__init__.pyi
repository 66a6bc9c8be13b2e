from . import callbacks, changes, diagnostics, drift, history, lives, loggers
from .callbacks import Callback, EarlyStopping, History, Learner, LearningBar, TaskContext
from .callbacks import history_of as history_of
from .changes import Change, ChangedFeature, ChangeWatch
from .diagnostics import SampleReport, figures_on, relative_move, stationarity
from .drift import DriftDetector, Shares, loss_of
from .history import NUMBERS, Trace, alarms_of, changeovers, read_history
from .lives import Event, lives_of

__all__ = [
    "NUMBERS",
    "Callback",
    "Change",
    "ChangeWatch",
    "ChangedFeature",
    "DriftDetector",
    "EarlyStopping",
    "Event",
    "History",
    "Learner",
    "LearningBar",
    "SampleReport",
    "Shares",
    "TaskContext",
    "Trace",
    "alarms_of",
    "callbacks",
    "changeovers",
    "changes",
    "diagnostics",
    "drift",
    "figures_on",
    "history",
    "lives",
    "lives_of",
    "loggers",
    "loss_of",
    "read_history",
    "relative_move",
    "stationarity",
]
