"""What models of videos do as all models do."""

import numpy as np
import pytest

from atomstream import VideoDictionary


@pytest.mark.parametrize("init", ["nndsvd", "nndsvda", "nndsvdar"])
def test_their_starts_are_answered_with_ours(init):
    words = f"init='{init}' is a name of scikit-learn: write init="
    with pytest.raises(ValueError, match=f"{words}'svd'"):
        VideoDictionary(2, init=init).fit(np.ones((6, 4, 4)))
