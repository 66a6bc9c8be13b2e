"""A model of atoms made of samples, and a call that an interrupt may tear."""

from torn import steps

from atomstream import OnlineConvexMF

CASES = {"convex": (lambda: OnlineConvexMF(3, random_state=0), steps, 3)}
