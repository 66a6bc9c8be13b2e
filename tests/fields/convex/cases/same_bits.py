"""A model of atoms made of samples that learns the same bits in rounds, and their shape."""

from atomstream import OnlineConvexMF

CASES = {"convex": (OnlineConvexMF(4, n_representatives=10, random_state=0), (30,))}
