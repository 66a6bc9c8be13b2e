"""Batches of rows, and tables whose rows are read when they are asked for."""

from .cuts import batches as batches
from .cuts import patches as patches
from .cuts import windows as windows
from .on_disk import CubeRows as CubeRows
from .on_disk import OnDisk as OnDisk
from .triples import Triples as Triples
