"""Markov chains as streams: each a frozen value with ``init``, ``step`` and ``run``."""

from atomstream.samplers.base import Chain, samples
from atomstream.samplers.ising import IsingGibbs

__all__ = ["Chain", "IsingGibbs", "samples"]
