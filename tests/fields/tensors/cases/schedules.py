"""A model of tensors that learns under a schedule."""

import numpy as np

from atomstream import OnlineCPDictionary

FRAMES = np.random.default_rng(0).random((12, 6, 6))
CASES = {"tensor": lambda schedule: OnlineCPDictionary(2, schedule=schedule).fit(FRAMES)}
