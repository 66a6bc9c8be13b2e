"""A model of tensors that takes batches of a stream without end, and their shape."""

from atomstream import OnlineCPDictionary

CASES = {"tensors": (OnlineCPDictionary(2, random_state=0), (20, 3, 2))}
