"""Pictures and reports show what their data say."""

import base64
from types import SimpleNamespace

import numpy as np
import pytest

from atomstream import OnlineNMF, plots
from atomstream.looks.report import Section, how, write_report
from atomstream.looks.rows import RowsLook
from atomstream.watch.callbacks import History


def test_pictures_show_what_their_twins_return():
    X = np.random.default_rng(0).random((100, 16))
    history = History()
    model = OnlineNMF(6, batch_size=20, random_state=0).set_callbacks(history).fit(X)
    images, shares = plots.atoms_data(model, (4, 4))
    assert images.shape == (6, 4, 4)
    assert (np.diff(shares) <= 0).all()
    assert images.min() == 0
    assert images.max() == 1
    drawn = [axes for axes in plots.atoms(model, (4, 4), n_columns=4).axes if axes.images]
    np.testing.assert_array_equal(drawn[0].images[0].get_array(), images[0])
    assert drawn[0].get_title() == f"{model.importance_.argmax()}: {100 * shares[0]:.1f} %"
    with pytest.raises(ValueError, match=r"shape=\(3, 3\) has 9 entries, the atoms have 16"):
        plots.atoms(model, (3, 3))
    n_samples, values, _ = plots.objective_data(history)
    newest = dict(zip(history.n_samples[1:], history.objective[1:], strict=True))
    np.testing.assert_array_equal(n_samples, [*newest])  # of rounds over all rows the last one
    np.testing.assert_array_equal(values, [*newest.values()])
    line = plots.objective(history).axes[0].lines[0]
    np.testing.assert_array_equal(line.get_xdata(), n_samples)
    np.testing.assert_array_equal(line.get_ydata(), values)


def test_a_report_tells_how_many_entries_were_outliers(room):
    rng = np.random.default_rng(0)
    X = 10 * rng.gamma(1.0, 1.0, (200, 3)) @ rng.gamma(0.5, 1.0, (3, 40)) + rng.random((200, 40))
    X[rng.random(X.shape) < 0.1] += 500
    told = []
    for loss in ("trimmed", "squared"):
        model = OnlineNMF(3, loss=loss, n_epochs=2, random_state=0).fit(X)
        record = SimpleNamespace(learner=model, model=model, settings=None, notes={}, chosen={})
        told.append(how(record).get("entries counted as outliers"))
    assert told[1] is None
    room.error(abs(float(told[0].rstrip("%")) - 10), at_most=3)


def test_a_report_shows_which_entries_are_outliers():
    rng = np.random.default_rng(0)
    X = 10 * rng.gamma(1.0, 1.0, (200, 3)) @ rng.gamma(0.5, 1.0, (3, 40)) + rng.random((200, 40))
    wrong = rng.random(X.shape) < 0.1
    X[wrong] += 500
    shown = {}
    for loss in ("trimmed", "squared"):
        model = OnlineNMF(3, loss=loss, n_epochs=2, random_state=0).fit(X)
        known = {"shape": None, "names": None, "settings": None, "notes": {}}
        record = SimpleNamespace(learner=model, model=model, held_out=X[:50], **known)
        shown[loss] = {section.name: section for section in RowsLook().judged(record)}
    assert "outliers" not in shown["squared"]
    section = shown["trimmed"]["outliers"]
    drawn = section.figure.axes[0].images[0].get_array()
    assert drawn.shape == (50, 40)
    assert drawn[wrong[:50]].all()
    assert f"{drawn.mean():.1%}" in section.caption


def test_a_report_is_one_file_that_escapes_names_and_needs_no_network(tmp_path):
    model = OnlineNMF(3, random_state=0).fit(np.random.default_rng(0).random((30, 4)))
    section = Section("atoms", "<b>Atoms</b>", "shares & more", plots.atoms(model, (2, 2)))
    path = write_report(tmp_path / "run", "<script>alert(1)</script>", {"a<b": "c&d"}, [section])
    page = path.read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "a&lt;b" in page
    assert "http:" not in page
    assert "https:" not in page
    picture = (tmp_path / "run/figures/atoms.png").read_bytes()
    assert base64.b64encode(picture).decode() in page


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([0.001, 5.0, 4.0, 3.0], "linear"),  # the first value is of the batch that made the start
        ([9.0, 100.0, 10.0, 1.0], "log"),
        ([9.0, 100.0, 10.0, 0.0], "linear"),  # a logarithm has no zero
        ([3.0], "linear"),
    ],
)
def test_a_learning_curve_has_a_logarithmic_axis_where_it_spans_more_than_a_decade(values, scale):
    history = SimpleNamespace(n_samples=list(range(10, 10 + len(values))), objective=values)
    axes = plots.objective(history, unit="row").axes[0]
    assert axes.get_yscale() == scale
    assert axes.get_xlabel() == "rows seen"
    assert axes.get_ylabel() == "mean objective per row"
    drawn = values[1:] or values
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), drawn)
