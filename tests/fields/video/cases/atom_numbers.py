"""A model of the pixels of a video whose atoms have shares that differ, and its picture."""

import numpy as np

from atomstream import VideoDictionary, plots


def video():
    frames = np.random.default_rng(0).random((30, 6, 6))
    return VideoDictionary(4, mode="pixels", n_epochs=2, random_state=0).fit(frames)


CASES = {"video": (video, plots.temporal_atoms)}
