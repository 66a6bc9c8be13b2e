"""Options of runs of texts: their defaults."""

import inspect

from atomstream import TopicModel
from atomstream.runs.task import task_named


def test_defaults_that_pass_through_code_are_those_of_the_estimator():
    known = inspect.signature(TopicModel).parameters
    text = task_named("text").settings_type(("x",))
    assert text.new_model().stop_words == known["stop_words"].default
