"""A consensus, saved to a file, for all verbs that look."""

from atomstream import ConsensusNMF

CASES = {
    "ConsensusNMF": {
        "learned": lambda rng: ConsensusNMF([3], n_replicates=3, n_epochs=2, random_state=0).fit(
            rng.random((60, 6))
        ),
        "codes": "x.csv",
    },
}
