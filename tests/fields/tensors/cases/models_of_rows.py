"""A model of tensors, of which rows are some."""

from atomstream import OnlineCPDictionary

CASES = {"cp": OnlineCPDictionary}
