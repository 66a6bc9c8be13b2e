"""What a consensus does as all models do."""

import numpy as np
import pytest
from zoo import rows

from atomstream import ConsensusNMF


def test_a_number_of_atoms_that_was_read_off_the_data_is_a_guess():
    model = ConsensusNMF([2, 3], n_replicates=3, n_epochs=1, random_state=0).fit(rows())
    choice = model.chosen_["n_components"]
    assert (choice.value, choice.why, choice.guessed) == (
        model.n_components_,
        model.choice_.reason,
        True,
    )
    assert str(model.chosen_["bootstrap"]).startswith("False (")


@pytest.mark.parametrize("theirs", ["frobenius", "kullback-leibler", "itakura-saito"])
def test_their_losses_are_ours(theirs):
    X = np.random.default_rng(0).poisson(3.0, (60, 8)) + 0.5
    assert ConsensusNMF([2], n_replicates=2, n_epochs=1, loss=theirs).fit(X).n_steps_ == 1
