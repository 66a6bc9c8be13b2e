"""Series that are no numbers."""

import pytest
from no_numbers import NEEDED, NO_NUMBERS

from atomstream import SeriesDictionary


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_is_no_number_is_never_learned_as_one(kind):
    with pytest.raises((ValueError, TypeError), match=f"{NEEDED}|sparse data are not supported"):
        SeriesDictionary(2, window=3).fit(NO_NUMBERS[kind])
