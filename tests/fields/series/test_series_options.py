"""Options of runs of series: their defaults, and what the help shows for none."""

import inspect

import pytest

from atomstream import SeriesDictionary
from atomstream.runs.task import task_named


@pytest.mark.parametrize(
    ("kind", "schedule"),
    [
        ("series forecast", inspect.signature(SeriesDictionary).parameters["schedule"].default),
        ("series impute", "power"),  # gaps are filled from all rows
    ],
)
def test_defaults_that_pass_through_code_are_those_of_the_estimator(kind, schedule):
    assert task_named(kind).settings_type(("x",)).new_model().schedule == schedule


def test_what_the_help_shows_for_none_is_what_happens():
    model = task_named("series impute").settings_type(("x",), window=7).new_model()
    assert model._memory == 70
    assert model._n_init == 28
    assert model.season is None
