"""A model of atoms made of samples that learns in rounds."""

from strange import ATOMS, Drawn

from atomstream import OnlineConvexMF

CASES = {
    "convex": (OnlineConvexMF(ATOMS, n_representatives=20, random_state=0), Drawn, ("local",)),
}
