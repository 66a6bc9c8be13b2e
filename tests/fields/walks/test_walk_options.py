"""Options of runs of walks: lists of columns."""

from atomstream.cli.options import given
from atomstream.runs.task import task_named


def test_lists_are_parted_at_commas():
    walk = task_named("walk").settings_type
    assert given(walk, {"origin": "x , y", "cell": None}) == {"origin": ["x", "y"]}
