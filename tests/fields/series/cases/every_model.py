"""A model of series, saved to a file, for all verbs that look."""

from atomstream import SeriesDictionary

CASES = {
    "SeriesDictionary": {
        "learned": lambda rng: SeriesDictionary(3, 5, random_state=0).fit(rng.random((60, 6))),
    },
}
