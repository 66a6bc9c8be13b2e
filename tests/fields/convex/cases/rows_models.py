"""A class of models that learn from rows alone."""

from atomstream import OnlineConvexMF

CASES = {"OnlineConvexMF": OnlineConvexMF}
