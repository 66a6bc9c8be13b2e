"""The settings of a consensus whose methods get one argument after another."""

CASES = {"ConsensusNMF": ({"n_components": [2], "n_replicates": 2}, lambda method: {})}
