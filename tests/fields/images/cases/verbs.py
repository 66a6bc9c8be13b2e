"""Runs of images open pictures alone, which have no option of reading."""

CASES = {"image": ((), None, None, None)}
