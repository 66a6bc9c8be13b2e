"""Classes of this field that have the standard name of the field or of software."""

CASES = dict.fromkeys(
    [
        "Consensus",
        "ConsensusLearning",
        "ConsensusLook",
        "ConsensusNMF",
        "ConsensusSettings",
        "ConsensusTask",
        "Evidence",
        "Level",
        "RankChoice",
    ],
    "standard",
)
