"""Loaded once, in the process that workers are forked from: modules, and kernels from disk."""

from strange import ATOMS, Drawn

from atomstream import OnlineNMF
from atomstream.cluster import Shards

OnlineNMF(ATOMS, random_state=0).fit_stream(Shards([Drawn(0)]), slots=2)
