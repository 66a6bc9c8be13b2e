"""A model of frames that learns under a schedule."""

import numpy as np

from atomstream import VideoDictionary

FRAMES = np.random.default_rng(0).random((12, 6, 6))
CASES = {"video": lambda schedule: VideoDictionary(2, schedule=schedule).fit(FRAMES)}
