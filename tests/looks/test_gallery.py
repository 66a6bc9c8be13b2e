"""Every plot is drawn once: something is on it, nothing hangs over its edge, one style for all.

``python tests/looks/test_gallery.py FOLDER`` writes all of them, to be looked at.
"""

import functools
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import pytest
from cases import of_fields
from drawn import of_patches

from atomstream import plots
from atomstream.looks.canvas import by_similarity

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def model():
    return of_patches()[0]


FIGURES = {
    "atoms": lambda: plots.atoms(model(), (4, 4)),
    "bars": lambda: plots.bars(model()),
    "curves": lambda: plots.curves(model()),
    "objective": lambda: plots.objective(of_patches()[1], unit="patch"),
    "triples": lambda: plots.triples(model(), of_patches()[2][:6], (4, 4)),
    **of_fields("gallery"),
}
# Those whose atoms have an order: a model, how it is drawn, and what data are drawn.
ORDERS = {
    "atoms": (
        model,
        functools.partial(plots.atoms, shape=(4, 4)),
        lambda m, order: plots.atoms_data(m, (4, 4), order=order)[0],
    ),
    "bars": (model, plots.bars, None),
    "curves": (model, None, lambda m, order: plots.curves_data(m, order=order)[0]),
    **of_fields("orders"),
}


def test_every_plot_is_here():
    public = {name for name in plots.__all__ if callable(getattr(plots, name))}
    assert set(FIGURES) == {name for name in public if not name.endswith("_data")}


@pytest.mark.cover(6)
@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.filterwarnings("ignore")
def test_it_is_drawn_whole(name):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = FIGURES[name]()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3]
    assert len(np.unique(pixels @ [1, 256, 65536])) > 3
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert (edge == 255).all()
    sizes = {
        round(text.get_fontsize(), 1)
        for axes in figure.axes
        for text in [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        if text.get_text()
    }
    assert all(6 <= size <= 11 for size in sizes), sizes


def alike(rows):
    """Return the mean cosine of neighbours."""
    rows = np.reshape(rows, (len(rows), -1)).astype(float)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return np.mean(np.abs((rows[1:] * rows[:-1]).sum(axis=1)))


def test_neighbours_are_alike_in_the_order_of_similarity():
    rng = np.random.default_rng(1)
    kinds = rng.random((5, 20)) ** 3
    atoms = np.repeat(kinds, 6, axis=0) + 0.1 * rng.random((30, 20))
    mixed = rng.permutation(30)
    order = by_similarity(atoms[mixed])
    assert sorted(order.tolist()) == list(range(30))
    groups = mixed[order] // 6
    assert np.count_nonzero(np.diff(groups)) == 4
    assert by_similarity(np.ones((2, 3))).tolist() == [0, 1]
    assert sorted(by_similarity(np.zeros((4, 3))).tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("name", [name for name in ORDERS if ORDERS[name][2]])
def test_plots_draw_the_same_atoms_in_both_orders(name):
    make, _, data = ORDERS[name]
    one, other = (data(make(), order) for order in ("importance", "similarity"))
    assert sorted(map(str, one.tolist())) == sorted(map(str, other.tolist()))
    assert alike(other) >= alike(one) - 1e-9
    with pytest.raises(ValueError, match="choose one of importance, similarity"):
        data(make(), "size")


@pytest.mark.cover(2)
@pytest.mark.parametrize("name", [name for name in ORDERS if ORDERS[name][1]])
def test_titles_follow_the_order(name):
    make, draw, _ = ORDERS[name]
    one, other = (
        [axes.get_title() for axes in draw(make(), order=order).axes if axes.get_title()]
        for order in ("importance", "similarity")
    )
    assert sorted(one) == sorted(other)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(exist_ok=True)
    for title, make in FIGURES.items():
        make().savefig(place / f"{title}.png", dpi=70)
