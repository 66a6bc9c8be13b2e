"""A model of frames, and a call that an interrupt may tear."""

from torn import ROWS

from atomstream import VideoDictionary

CASES = {
    "video": (
        lambda: VideoDictionary(2, batch_size=5, snapshots=(5, 10), random_state=0),
        lambda m: m.partial_fit(ROWS[:15].reshape(15, 4, 3)),
        1,
    ),
}
