"""A model of series, and a call that an interrupt may tear."""

from torn import ROWS

from atomstream import SeriesDictionary

CASES = {
    "series": (
        lambda: SeriesDictionary(3, window=4, n_init=20, n_init_batches=3, random_state=0),
        lambda m: m.partial_fit(ROWS[:30, :3]),
        1,
    ),
}
