"""A small model of atoms made of samples, and rows that it learns from."""

from cases import rows

from atomstream import OnlineConvexMF

CASES = {"convex": (OnlineConvexMF(2, n_representatives=6, random_state=0), rows, "transform")}
