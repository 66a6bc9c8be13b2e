"""A run of texts that is killed before its results."""

from atomstream.fields.text.run import TextTask

CASES = {"text": (TextTask, "text topics docs.txt --topics 2 --epochs 2", None)}
