"""A model of atoms made of samples that learns from data of any size."""

from atomstream import OnlineConvexMF

MODEL = {"alpha": 0, "random_state": 0, "n_epochs": 1}
CASES = {"hulls": (lambda scale: OnlineConvexMF(3, **MODEL), 1e-60)}
