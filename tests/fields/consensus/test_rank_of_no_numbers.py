"""Data that are no numbers have no rank."""

import pytest
import scipy.sparse as sp
from no_numbers import NEEDED, NO_NUMBERS

from atomstream import choose_rank


@pytest.mark.parametrize("kind", [kind for kind, X in NO_NUMBERS.items() if not sp.issparse(X)])
def test_what_is_no_number_is_never_learned_as_one(kind):
    with pytest.raises((ValueError, TypeError), match=NEEDED):
        choose_rank(NO_NUMBERS[kind], [1])
