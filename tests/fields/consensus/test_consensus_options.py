"""Options of runs of a consensus: their defaults."""

import inspect

from atomstream import ConsensusNMF
from atomstream.runs.task import task_named


def test_defaults_that_pass_through_code_are_those_of_the_estimator():
    known = inspect.signature(ConsensusNMF).parameters
    consensus = task_named("consensus").settings_type()
    assert consensus.new_model().batch_size == known["batch_size"].default
