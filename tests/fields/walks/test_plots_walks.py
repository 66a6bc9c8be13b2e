"""Names beside places in the plots of walks."""

import numpy as np
import pytest
from fields.walks.cases.gallery import CASES

from atomstream import plots

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
RNG = np.random.default_rng(0)


def test_names_of_places_stand_beside_those_that_use_an_atom_most():
    usages, names = RNG.random((30, 2)), [f"station {i}" for i in range(30)]
    figure = plots.usage_maps(usages, RNG.random((30, 2)), names=names)
    for atom in range(2):
        (axes,) = (a for a in figure.axes if a.get_title() == f"atom {atom}")
        wanted = {names[i] for i in np.argsort(-usages[:, atom])[:5]}
        assert {text.get_text() for text in axes.texts} == wanted
    (text,) = CASES["partition_map"]().axes[0].texts[:1]
    assert (text.get_text(), text.xy) == ("Plaza", (-69.98, -32.98))
