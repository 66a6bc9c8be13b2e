"""A model of tensors that learns the same bits in rounds, and the shape of a sample."""

from atomstream import OnlineCPDictionary

CASES = {"tensors": (OnlineCPDictionary(4, random_state=0), (5, 6))}
