"""Models of atoms made of samples, which learn the same from sparse rows in any form."""

from atomstream import OnlineConvexMF


def hulls(**settings):
    return OnlineConvexMF(3, n_representatives=6, n_epochs=1, random_state=0, **settings)


CASES = {"hulls": hulls, "hulls with gaps": lambda: hulls(missing=True)}
