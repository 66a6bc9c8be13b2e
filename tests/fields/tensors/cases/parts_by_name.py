"""A parameter of a part of a model of tensors, set by its name."""

from atomstream import OnlineCPDictionary
from atomstream.updates import LoadingSweep

CASES = {"tensors": (OnlineCPDictionary(), "updater__radius", None, LoadingSweep(radius=None))}
