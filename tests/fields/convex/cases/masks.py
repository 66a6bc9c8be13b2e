"""A model of atoms made of samples that learns behind masks."""

from atomstream import OnlineConvexMF


def convex(**more):
    return OnlineConvexMF(3, n_representatives=15, alpha=0.01, random_state=0, **more)


CASES = {"convex": convex}
