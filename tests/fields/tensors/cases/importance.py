"""A model of tensors whose atoms are more or less important."""

from sklearn.datasets import load_digits

from atomstream import OnlineCPDictionary

DIGITS = load_digits().data[:700] / 16


def tensors(**how):
    return OnlineCPDictionary(8, **how)


CASES = {"tensors": (tensors, DIGITS.reshape(-1, 8, 8), {})}
