"""A model of atoms made of samples whose methods get one argument after another."""

CASES = {"OnlineConvexMF": ({"n_representatives": 4}, lambda method: {})}
