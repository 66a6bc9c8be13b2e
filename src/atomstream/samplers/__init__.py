"""Markov chains as streams: each a frozen value with ``init``, ``step`` and ``run``."""

from atomstream.domains.networks import Motif, Network, motifs
from atomstream.samplers.base import Chain, MotifChain, RandomWalk, samples
from atomstream.samplers.glauber import MotifGlauber, homomorphism_density, homomorphisms
from atomstream.samplers.ising import IsingGibbs
from atomstream.samplers.pivot import MotifPivot
from atomstream.samplers.significance import Significance, significance

__all__ = [
    "Chain",
    "IsingGibbs",
    "Motif",
    "MotifChain",
    "MotifGlauber",
    "MotifPivot",
    "Network",
    "RandomWalk",
    "Significance",
    "homomorphism_density",
    "homomorphisms",
    "motifs",
    "samples",
    "significance",
]
