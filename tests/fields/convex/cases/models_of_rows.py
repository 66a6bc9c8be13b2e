"""A model of rows whose atoms are made of samples."""

from atomstream import OnlineConvexMF

CASES = {"convex": OnlineConvexMF}
