"""A model of atoms made of samples whose parts are chosen, and its data."""

from functools import partial

from given import POSITIVE

from atomstream import OnlineConvexMF

CASES = {OnlineConvexMF: (partial(OnlineConvexMF, 3, n_representatives=6), POSITIVE)}
