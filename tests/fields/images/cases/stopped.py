"""Runs of images that are stopped after every step."""

CASES = {
    "image": ("image learn pictures --patch 4 --atoms 6 --patches 6000 --batch-size 500", 3),
}
