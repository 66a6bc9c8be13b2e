"""The plot of atoms made of samples."""

from cases import rows

from atomstream import OnlineConvexMF, plots


def convex():
    return OnlineConvexMF(3, n_representatives=6, random_state=0).fit(rows())


CASES = {"parts": lambda: plots.parts(convex())}
