"""Markov chains as streams: each a frozen value with ``init``, ``step`` and ``run``."""

from atomstream.samplers import motifs
from atomstream.samplers.base import Chain, samples
from atomstream.samplers.graphs import Network
from atomstream.samplers.ising import IsingGibbs
from atomstream.samplers.motif import MotifGlauber, homomorphism_density, homomorphisms
from atomstream.samplers.motifs import Motif
from atomstream.samplers.pivot import MotifPivot
from atomstream.samplers.walk import RandomWalk

__all__ = [
    "Chain",
    "IsingGibbs",
    "Motif",
    "MotifGlauber",
    "MotifPivot",
    "Network",
    "RandomWalk",
    "homomorphism_density",
    "homomorphisms",
    "motifs",
    "samples",
]
