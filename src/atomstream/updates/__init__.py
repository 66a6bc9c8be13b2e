"""Updates of the dictionary, made once the memory has taken in a batch."""

from atomstream.updates.base import Explained, Updater
from atomstream.updates.block_coordinate import BlockCoordinate
from atomstream.updates.loadings import LoadingSweep
from atomstream.updates.majorise import Majorise
from atomstream.updates.subgradient import SubgradientStep

__all__ = ["BlockCoordinate", "Explained", "LoadingSweep", "Majorise", "SubgradientStep", "Updater"]
