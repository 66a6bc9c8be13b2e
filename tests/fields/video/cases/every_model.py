"""A model of videos, saved to a file, for all verbs that look."""

from atomstream import VideoDictionary

CASES = {
    "VideoDictionary": {
        "learned": lambda rng: VideoDictionary(2, random_state=0).fit(rng.random((9, 4, 5))),
        "codes": "frames.npy",
        "shape": (8, 2),
    },
}
