"""A consensus that takes batches of a stream without end, and their shape."""

from atomstream import ConsensusNMF

CASES = {"consensus": (ConsensusNMF([2], n_replicates=2, random_state=0), (20, 6))}
