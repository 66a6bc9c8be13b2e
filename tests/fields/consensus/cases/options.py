"""What options of runs of a consensus stand for."""

CASES = {
    "consensus": {
        "estimators": ["OnlineDictionaryLearning", "OnlineNMF"],
        # test_consensus.py
        "shown": {"bootstrap": "yes under divergences, else no"},
    },
}
