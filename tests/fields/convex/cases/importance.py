"""A model of atoms made of samples whose atoms are more or less important."""

from sklearn.datasets import load_digits

from atomstream import OnlineConvexMF

DIGITS = load_digits().data[:700] / 16


def convex(**how):
    return OnlineConvexMF(5, **{"n_epochs": 1, **how})


CASES = {"convex": (convex, DIGITS, {})}
