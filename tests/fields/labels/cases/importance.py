"""A model of labels whose atoms are more or less important."""

from sklearn.datasets import load_digits

from atomstream import SupervisedDictionary

DIGITS = load_digits()


def labels(**how):
    return SupervisedDictionary(8, **{"n_epochs": 5, **how})


CASES = {"labels": (labels, DIGITS.data[:700] / 16, {"y": DIGITS.target[:700]})}
