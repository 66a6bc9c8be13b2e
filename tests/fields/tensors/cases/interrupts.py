"""A model of tensors, and a call that an interrupt may tear."""

from torn import PIECES, steps

from atomstream import OnlineCPDictionary

CASES = {
    "cp": (
        lambda: OnlineCPDictionary(3, random_state=0),
        lambda m: steps(m, [part.reshape(-1, 4, 3) for part in PIECES]),
        3,
    ),
}
