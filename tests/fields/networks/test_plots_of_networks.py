"""Plots that do not draw a network say so, and what does."""

import pytest
from drawn import of

from atomstream import plots


@pytest.mark.filterwarnings("ignore")
def test_the_sentences():
    network = of("networks")
    with pytest.raises(
        TypeError, match=r"plots.atoms needs shape, .*; model.plot\(\) draws the at"
    ):
        plots.atoms(network)
    with pytest.raises(TypeError, match=r"^plots.objective draws history, got NetworkDictionary; "):
        plots.objective(network)
