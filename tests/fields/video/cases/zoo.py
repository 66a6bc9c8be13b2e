"""A small model of videos, and frames that it learns from."""

from cases import rows

from atomstream import VideoDictionary

CASES = {
    "frames": (
        VideoDictionary(2, random_state=0),
        lambda: rows().reshape(30, 4, 4),
        "transform",
    ),
}
