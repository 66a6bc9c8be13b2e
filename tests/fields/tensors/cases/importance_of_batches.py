"""A model of tensors that learns in batches, and the shape of a sample."""

from atomstream import OnlineCPDictionary

CASES = {"tensors": (OnlineCPDictionary(3), (3, 4))}
