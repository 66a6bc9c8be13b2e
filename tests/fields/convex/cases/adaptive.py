"""A model of atoms made of samples whose memory adapts."""

from atomstream import OnlineConvexMF

MODEL = OnlineConvexMF(3, schedule="adaptive", n_representatives=6, random_state=0)
CASES = {"convex": MODEL}
