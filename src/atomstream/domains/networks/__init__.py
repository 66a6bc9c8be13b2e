"""Networks, motifs, reconstructions, and link prediction."""

from atomstream.domains.networks import links, motifs
from atomstream.domains.networks.motifs import Motif
from atomstream.domains.networks.network import Network
from atomstream.domains.networks.reconstruction import Ranking, Reconstruction, Scores, Shrinkage

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
