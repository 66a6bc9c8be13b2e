"""Declared fields: what fits, what is refused, and the one sentence that says so."""

import numpy as np
import pytest
import scipy.sparse as sp

from atomstream.base.saved_fields import (
    ANY,
    array,
    check_fields,
    check_saved,
    count,
    each,
    either,
    field_names,
    number,
    one_of,
    part,
    texts,
)


class Sums:
    SAVED = (array("gram", "r r"), array("cross", "r d"), number("mass", at_least=0), "free")

    def __init__(self, gram, cross, mass=1.0, free=None):
        self.gram, self.cross, self.mass, self.free = gram, cross, mass, free


class Checked(Sums):
    def check_saved(self, r, **sizes):
        if self.mass > r:
            raise ValueError("a mass above the number of atoms")


def words(*names):
    return np.array(names, object)


FIT = [
    (array("x", "n", "iu"), np.arange(3)),
    (array("x", ""), np.array(2.0)),
    (array("x", "2m r"), np.zeros((4, 3))),
    (array("x", "n", float, finite=True), np.ones(3)),
    (array("x", "n d", finite=True), sp.csr_array(np.eye(3))),
    (array("x", "n", ANY, optional=True), None),
    (array("x", "..."), np.zeros((2, 3, 4), np.float32)),
    (number("x"), float("nan")),
    (number("x", at_least=0), float("inf")),
    (number("x", at_least=0, finite=True), 10**400),
    (count("x"), 0),
    (one_of("x", (True, False)), True),
    (texts("x"), words("a", "b")),
    (each(count("x", 1), at_least=2, at_most=3), (1, 2)),
    (part("x", dict), {}),
    (part("x", "append"), []),
    (either(number("x"), texts("x")), words()),
]
REFUSED = [
    (array("x", "n", "iu"), np.zeros(3)),
    (array("x", ""), 2.0),
    (array("x", "2m r"), np.zeros((3, 3))),
    (array("x", "n n"), np.zeros((2, 3))),
    (array("x", "n", np.float64), np.zeros(3, np.float32)),
    (array("x", "n", float, finite=True), np.array([np.nan])),
    (array("x", "n", at_least=0), np.array([np.nan])),
    (array("x", "n", "i", below="r"), np.array([3])),
    (array("x", "n d", finite=True), sp.csr_array(np.diag([np.inf, 1.0]))),
    (array("x", "n"), None),
    (array("x", "n"), [1.0]),
    (number("x"), True),
    (number("x"), "1"),
    (number("x", above=0, finite=True), float("inf")),
    (number("x", at_least=0), float("nan")),
    (count("x"), 1.0),
    (count("x"), True),
    (count("x"), 2**63),
    (one_of("x", (True, False)), 1),
    (one_of("x", ("a", "b")), ["a"]),
    (texts("x", at_least=1), words()),
    (texts("x"), words("a", 1)),
    (each(count("x", 1), at_least=2), (1,)),
    (each(count("x", 1)), (1, 0)),
    (each(count("x", 1)), "12"),
    (part("x", dict), []),
    (part("x", "append"), ()),
    (either(number("x"), texts("x")), "a"),
]


@pytest.mark.parametrize(("field", "value"), FIT)
def test_what_fits(field, value):
    field.check(value, {"r": 3}, "Owner")


@pytest.mark.parametrize(("field", "value"), REFUSED)
def test_what_does_not_fit_is_refused_in_one_sentence(field, value):
    with pytest.raises(ValueError, match=r"^x of Owner must be .*, got .*$"):
        field.check(value, {"r": 3}, "Owner")


def test_equal_symbols_are_equal_sizes():
    check_saved(Sums(np.eye(3), np.zeros((3, 5))), r=3, d=5)
    check_saved(Sums(np.eye(3), np.zeros((3, 5))))
    sentence = (
        r"cross of Sums must be an array of shape \(r, d\) and kind f where d = 5, r = 3, "
        r"got float64 of shape \(4, 5\)"
    )
    with pytest.raises(ValueError, match=sentence):
        check_saved(Sums(np.eye(3), np.zeros((4, 5))), d=5)
    with pytest.raises(ValueError, match="gram of Sums"):
        check_saved(Sums(np.eye(2), np.zeros((2, 5))), r=3)


def test_sizes_of_a_part_are_its_own_but_for_those_that_are_given():
    class Pair:
        SAVED = (part("one", Sums), part("other", Sums))

    pair = Pair()
    pair.one, pair.other = Sums(np.eye(2), np.zeros((2, 3))), Sums(np.eye(4), np.zeros((4, 3)))
    check_saved(pair, d=3)
    with pytest.raises(ValueError, match="gram of Sums"):
        check_saved(pair, r=2)


def test_what_fields_cannot_say_is_checked_after_them():
    check_saved(Checked(np.eye(3), np.zeros((3, 5))), r=3)
    with pytest.raises(ValueError, match="above the number of atoms"):
        check_saved(Checked(np.eye(3), np.zeros((3, 5)), mass=4.0), r=3)
    with pytest.raises(ValueError, match="mass of Checked"):
        check_saved(Checked(np.eye(3), np.zeros((3, 5)), mass=-1.0), r=3)


def test_an_attribute_that_is_missing_is_refused():
    sums = Sums(np.eye(3), np.zeros((3, 5)))
    del sums.cross
    with pytest.raises(ValueError, match=r"cross of Sums must be .*, got None"):
        check_fields(sums, Sums.SAVED)


def test_names_are_those_of_the_fields():
    assert field_names(Sums.SAVED) == ("gram", "cross", "mass", "free")
