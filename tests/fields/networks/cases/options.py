"""What options of runs of networks stand for."""

CASES = {
    "network": {
        "estimators": ["NetworkDictionary"],
        "shown": {
            "directed": "graphs keep theirs, matrices are directed unless symmetric, lists are "
            "undirected"
        },
    },
}
