"""A model of tensors, saved to a file, for all verbs that look."""

from atomstream import OnlineCPDictionary

CASES = {
    "OnlineCPDictionary": {
        "learned": lambda rng: OnlineCPDictionary(3, random_state=0).fit(rng.random((30, 4, 5))),
        "codes": "frames.npy",
    },
}
