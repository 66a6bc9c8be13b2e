"""A model of atoms made of samples that learns from frames."""

from atomstream import OnlineConvexMF

CASES = {"convex": OnlineConvexMF(3, n_representatives=9, random_state=0, missing=True)}
