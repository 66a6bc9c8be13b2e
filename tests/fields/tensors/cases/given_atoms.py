"""Doors of models of tensors that take atoms."""

import numpy as np
from no_numbers import data

from atomstream import OnlineCPDictionary

CASES = {
    "loadings": lambda D: OnlineCPDictionary.from_components([D.T]).transform(data()),
    "modes": lambda D: OnlineCPDictionary.from_components([D.T, np.sign(D).T]),
    "start": lambda D: OnlineCPDictionary(3, init=[D.T]).fit(data()),
}
