"""Calls of the methods of the model of atoms made of samples."""

from doors_of_models import doors_of_model

CASES = doors_of_model("OnlineConvexMF", {"n_representatives": 4})
assert len(CASES) == 36
