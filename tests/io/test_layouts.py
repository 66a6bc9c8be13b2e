"""Layouts of files: the reader finds what the maker of a file means, or says why it does not."""

import re
from dataclasses import fields

import numpy as np
import pytest
from layouts import DATES, KINDS, LAYOUTS
from numpy.testing import assert_array_equal

from atomstream.exceptions import InputError
from atomstream.io import InputOptions, Naming, open_inputs
from atomstream.io.series_table import read_series

OF_ROWS = [name for name in LAYOUTS if not name.startswith("dates")]


def test_there_are_eight_layouts_of_each_kind():
    assert [len(layouts) for layouts in KINDS.values()] == [8] * 10


@pytest.fixture
def path_of(tmp_path):
    """Return a function that writes a layout to a file."""

    def write(layout):
        path = tmp_path / f"x{layout.ending}"
        path.write_bytes(layout.data)
        return path

    return write


def read(path, **options):
    """Return the source, its rows and what these are called."""
    naming = Naming(kept=True)
    source = open_inputs([str(path)], InputOptions(naming=naming, **options))[0]
    blocks = list(source.blocks(0, 0))
    labels = [[*np.concatenate(part)] for part in zip(*(b.labels for b in blocks), strict=True)]
    return source, np.concatenate([block.X for block in blocks]), labels


def check_sentence(error, pattern):
    assert re.search(pattern, str(error.value)), error.value
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", OF_ROWS)
def test_rows_of_a_layout(path_of, name):
    layout = LAYOUTS[name]
    path = path_of(layout)
    if layout.sentence:
        with pytest.raises(InputError) as raised:
            read(path, **layout.options)
        check_sentence(raised, layout.sentence)
        return
    source, rows, labels = read(path, **layout.options)
    assert_array_equal(rows, layout.rows)
    assert source.names == layout.names
    if layout.labels is not None:
        assert labels[0] == layout.labels
    assert set(layout.guessed) <= set(source.guesses), source.guesses
    assert not set(source.guesses) & set(layout.options)


@pytest.mark.parametrize("name", OF_ROWS)
def test_what_was_guessed_can_be_said_and_is_then_no_guess(path_of, name):
    layout = LAYOUTS[name]
    if layout.sentence:
        return
    path = path_of(layout)
    source, rows, labels = read(path, **layout.options)
    known = {each.name for each in fields(InputOptions)}
    told = {option: value for option, (value, _) in source.guesses.items() if option in known}
    again, same, names = read(path, **(dict(layout.options) | told))
    assert_array_equal(same, rows)
    assert (again.names, names) == (source.names, labels)
    assert not set(again.guesses) & set(told)


@pytest.mark.parametrize("name", DATES)
def test_dates_of_a_layout(path_of, name):
    layout = DATES[name]
    table = read_series(path_of(layout))
    assert table.names == layout.names
    assert_array_equal(table.values, layout.rows)
    assert_array_equal(table.labels, layout.labels)
