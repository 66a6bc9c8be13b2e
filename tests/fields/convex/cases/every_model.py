"""A model of atoms made of samples, saved to a file, for all verbs that look."""

from atomstream import OnlineConvexMF

CASES = {
    "OnlineConvexMF": {
        "learned": lambda rng: OnlineConvexMF(3, n_representatives=12, random_state=0).fit(
            rng.random((60, 6))
        ),
        "codes": "x.csv",
    },
}
