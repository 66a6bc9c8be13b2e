"""A model of tensors that is asked for too many atoms, and the shape of a sample."""

from atomstream import OnlineCPDictionary

CASES = {"tensors": (OnlineCPDictionary, {}, (2, 4))}
