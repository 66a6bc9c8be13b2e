"""What models of tensors do as all models do."""

import numpy as np
import pytest

from atomstream import OnlineCPDictionary


def test_tensors_keep_the_first_ones_only():
    with pytest.raises(ValueError, match="parameter of OnlineCPDictionary must be a whole number"):
        OnlineCPDictionary(4, init=[np.ones((4, 4))] * 2, fixed_components=[1]).fit(
            np.ones((9, 4, 4))
        )


@pytest.mark.parametrize("init", ["nndsvd", "nndsvda", "nndsvdar"])
def test_their_starts_are_answered_with_ours(init):
    words = f"init='{init}' is a name of scikit-learn: write init="
    with pytest.raises(ValueError, match=f"{words}'random' or init='samples'"):
        OnlineCPDictionary(2, init=init).fit(np.ones((60, 8)))


def test_tolerance_reaches_learning():
    X = np.random.default_rng(0).random((60, 2, 3)) + 0.1
    assert OnlineCPDictionary(2, random_state=0).fit(X).clock_.accuracy == 1e-3


def test_steps_need_convex_sets():
    with pytest.raises(ValueError, match="atoms='unit_sphere' is unknown"):
        OnlineCPDictionary(3, atoms="unit_sphere").fit(np.ones((9, 4)))
