"""Short and long forms of tests: which cases `make test` leaves to `make test-long`."""

import pytest


def is_long(request):
    return request.node.get_closest_marker("long") is not None


@pytest.mark.cover(2)
@pytest.mark.parametrize("a", [0, 1])
@pytest.mark.parametrize(("b", "half"), [(0, 0.0), (1, 0.5), (2, 1.0)])
def test_one_case_in_two_is_short_and_every_value_stands_beside_others(a, b, half, request):
    assert half == b / 2
    assert is_long(request) == ((a + b) % 2 == 1)


def test_one_seed_is_short_and_three_are_long(seeds, request):
    assert list(seeds) == ([0, 1, 2] if is_long(request) else [0])
