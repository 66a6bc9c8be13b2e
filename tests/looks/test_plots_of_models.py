"""Plots of models that they cannot draw: one sentence names what they draw, and what draws these.

plots.atoms(model)        # plots.atoms needs shape, ...; model.plot() draws the atoms ...
"""

import inspect
import pydoc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from zoo import ZOO

from atomstream import OnlineNMF, plots
from atomstream.looks import drawings
from atomstream.looks.plots import READS

FUNCTIONS = {
    name: getattr(plots, name) for name in plots.__all__ if inspect.isfunction(getattr(plots, name))
}


@pytest.fixture(scope="module", params=ZOO)
def model(request):
    made, data, _ = ZOO[request.param]
    return clone(made).fit(data())


@pytest.mark.filterwarnings("ignore")
def test_a_plot_draws_a_model_or_names_what_does(model):
    for name, draw in FUNCTIONS.items():
        needed = [
            p.name for p in inspect.signature(draw).parameters.values() if p.default is p.empty
        ]
        try:
            draw(model)
        except (TypeError, ValueError) as error:
            sentence = str(error)
        else:
            assert needed == ["model"]
            continue
        if "needs mode=" in sentence:
            continue  # of videos, which say what they need
        if needed[:1] == ["model"] and len(needed) > 1 and "missing" in sentence:
            continue  # it suits, and Python names what else it needs
        assert sentence.startswith(f"plots.{name.removesuffix('_data')}"), sentence
        assert type(model).__name__ in sentence
        assert ("model.plot()" in sentence) == hasattr(model, "plot"), sentence


def test_the_sentences():
    with pytest.raises(
        TypeError, match=r"^plots.bars draws a model with importance_, got ndarray\.$"
    ):
        plots.bars(np.ones((3, 3)))
    with pytest.raises(NotFittedError):
        plots.bars(OnlineNMF())
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'model'"):
        plots.bars()


def test_the_plots_are_those_of_their_modules():
    assert plots.atoms is plots.atoms
    assert {*READS} <= {*FUNCTIONS}
    for name, draw in FUNCTIONS.items():
        assert draw.__name__ == name
        assert inspect.signature(draw) == inspect.signature(draw.__wrapped__)
    assert plots.MAX_BARS == drawings.MAX_BARS
    assert "Draw the atoms in a grid" in pydoc.render_doc(plots.atoms)
