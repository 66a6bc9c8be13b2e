"""What runs are made of, loaded when it is first used."""

from .folder import RunFolder as RunFolder
from .kinds import Kind as Kind
from .kinds import kind_named as kind_named
from .kinds import kinds_of_runs as kinds_of_runs
from .record import open_record as open_record
from .run import Outcome as Outcome
from .run import Run as Run
from .run import StoppedAtOnce as StoppedAtOnce
from .run import stopped_by_signals as stopped_by_signals
from .settings import SENTINELS as SENTINELS
from .settings import Settings as Settings
from .settings import checkpoints as checkpoints
from .settings import option as option
from .settings import sets as sets
from .task import Pace as Pace
from .task import Task as Task
from .task import Work as Work
from .task import as_input_error as as_input_error
from .task import callbacks_set as callbacks_set
from .task import check_model as check_model
from .task import forward_warnings as forward_warnings
from .task import making_sense as making_sense
from .task import pace_set as pace_set
from .task import read_checkpoint as read_checkpoint
