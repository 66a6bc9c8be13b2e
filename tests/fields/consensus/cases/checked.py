"""A consensus that keeps the contract of scikit-learn."""

from atomstream import ConsensusNMF

CASES = {"consensus": ([ConsensusNMF([1, 2], n_replicates=3, n_epochs=2, random_state=0)], {})}
