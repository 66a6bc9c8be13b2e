"""The updates, typed."""

import typing

import atomstream.fields.tensors.update

from .base import CodedBatch as CodedBatch
from .base import Updater as Updater
from .block_coordinate import BlockCoordinate as BlockCoordinate
from .majorise import Majorise as Majorise
from .subgradient import SubgradientStep as SubgradientStep
from .trimmed_descent import TrimmedDescent as TrimmedDescent

LoadingSweep: typing.TypeAlias = atomstream.fields.tensors.update.LoadingSweep
