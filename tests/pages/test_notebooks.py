"""Models and fits in a notebook: thumbnails, figures, a figure that follows a fit, the bar."""

import json
import re

import numpy as np
import pytest
from sklearn.base import clone
from zoo import ZOO

from atomstream import OnlineNMF, TopicModel

WITH_ATOMS = sorted(set(ZOO) - {"colours", "walks"})


@pytest.mark.cover(2)
@pytest.mark.parametrize("name", WITH_ATOMS)
@pytest.mark.filterwarnings("ignore")
def test_every_model_with_atoms_has_a_plot_and_thumbnails(name):
    model, data, _ = ZOO[name]
    model = clone(model)
    assert "<img" not in model._repr_mimebundle_()["text/html"]
    model.fit(data())
    html = model._repr_mimebundle_()["text/html"]
    n_atoms = len(model.components_)
    strip = html[html.rindex("</style>") if "</style>" in html else 0 :]
    found = len(re.findall(r"data:image/png|<polyline|<div>topic ", strip))
    assert found >= n_atoms
    assert model._repr_html_().endswith(html[-100:])
    assert model.plot().axes


def test_words_are_escaped():
    model = TopicModel(1, vectorizer="counts", random_state=0)
    model.fit(["<b>rain</b> rain"] * 3)
    model.vocabulary_.names[:] = "<b>rain</b>"
    assert "<b>rain" not in model._repr_mimebundle_()["text/html"]


def test_rows_can_be_drawn_as_patches():
    model = OnlineNMF(3, random_state=0).fit(np.random.default_rng(0).random((50, 16)))
    assert len([axes for axes in model.plot(shape=(4, 4)).axes if axes.images]) == 3
    assert model.plot()._repr_png_().startswith(b"\x89PNG")


CELL = """
import numpy as np
from atomstream import OnlineNMF
from atomstream.watch.callbacks import LearningBar
from atomstream import live
X = np.random.default_rng(0).random((2000, 8))
figure = live.LiveFigure(every=0.0)
model = OnlineNMF(3, batch_size=100, n_epochs=1, random_state=0)
model.set_callbacks(figure, LearningBar()).fit(X)
assert figure.n_drawn == 21
"""


@pytest.mark.slow
def test_in_a_real_kernel(tmp_path):
    pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    import nbformat
    from nbclient import NotebookClient

    cells = [nbformat.v4.new_code_cell(text) for text in (CELL, "model", "model.plot()")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    first, second, third = (cell.outputs for cell in notebook.cells)
    pictures = [output for output in first if "image/png" in output.get("data", {})]
    assert len(pictures) == 1  # one figure, drawn anew
    rest = json.dumps([output for output in first if output not in pictures])
    assert "widget-view" in rest or "objective" in rest  # the bar, with and without ipywidgets
    assert "polyline" in second[0]["data"]["text/html"]
    assert "image/png" in third[0]["data"]
