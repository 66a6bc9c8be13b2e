"""A small consensus, and rows that it learns from."""

from cases import rows

from atomstream import ConsensusNMF

CASES = {
    "consensus": (
        ConsensusNMF([2], n_replicates=3, n_epochs=1, random_state=0),
        rows,
        "transform",
    ),
}
