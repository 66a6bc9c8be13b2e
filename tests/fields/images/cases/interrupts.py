"""A model of images, and a call that an interrupt may tear."""

from torn import ROWS

from atomstream import ImageDictionary

CASES = {
    "image": (
        lambda: ImageDictionary(4, 4, n_patches=60, batch_size=20, random_state=0),
        lambda m: m.partial_fit(ROWS[:, :12]),
        1,
    ),
}
