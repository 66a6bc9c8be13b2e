from . import links, motifs
from .motifs import Motif
from .network import Network
from .reconstruction import Ranking, Reconstruction, Scores, Shrinkage

__all__ = [
    "Motif",
    "Network",
    "Ranking",
    "Reconstruction",
    "Scores",
    "Shrinkage",
    "links",
    "motifs",
]
