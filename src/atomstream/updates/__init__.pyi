"""The updates, typed."""

from .base import CodedBatch as CodedBatch
from .base import Updater as Updater
from .block_coordinate import BlockCoordinate as BlockCoordinate
from .loadings import LoadingSweep as LoadingSweep
from .majorise import Majorise as Majorise
from .subgradient import SubgradientStep as SubgradientStep
from .trimmed_descent import TrimmedDescent as TrimmedDescent
