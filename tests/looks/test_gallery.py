"""Every plot is drawn once: something is on it, nothing hangs over its edge, one style for all.

``python tests/looks/test_gallery.py FOLDER`` writes all of them, to be looked at.
"""

import functools
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from zoo import ZOO

from atomstream import (
    ConsensusNMF,
    OnlineConvexMF,
    OnlineNMF,
    SeriesDictionary,
    TopicModel,
    plots,
    signatures,
)
from atomstream.fields.walks.trips import Grid
from atomstream.looks.canvas import by_similarity
from atomstream.watch.callbacks import History

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
RNG = np.random.default_rng(0)
PICTURE = np.add.outer(np.sin(np.arange(24) / 3), np.cos(np.arange(24) / 4)) + 2
WAVES = np.array([np.sin(np.arange(60) / k) + 1.2 for k in (3, 4, 5)]).T
HOURS = np.datetime64("2024-02-01T00") + np.arange(300) + 500 * (np.arange(300) > 150)
WORDS = [f"{kind} {other}" for kind in ("rain", "war", "cup") for other in ("now", "then", "soon")]


@functools.cache
def of(name):
    """Return a model of the zoo that has learned."""
    model, data, _ = ZOO[name]
    return clone(model).fit(data())


@functools.cache
def learned():
    history = History()
    model = OnlineNMF(6, batch_size=20, n_epochs=10, random_state=0).set_callbacks(history)
    patches = np.lib.stride_tricks.sliding_window_view(PICTURE, (4, 4)).reshape(-1, 16)
    return model.fit(patches), history, patches


@functools.cache
def topics():
    documents = [WORDS[i % 9] for i in range(90)]
    model = TopicModel(3, vectorizer="counts", random_state=0).fit(documents)
    return model, model.topics_over_time(documents, np.arange(90), bins=9)


@functools.cache
def convex():
    return OnlineConvexMF(3, n_representatives=6, random_state=0).fit(ZOO["nmf"][1]())


@functools.cache
def series():
    return SeriesDictionary(3, 6, n_init=40, n_init_batches=4, random_state=0).fit(WAVES)


@functools.cache
def ranks():
    model = ConsensusNMF([2, 3], n_replicates=3, n_epochs=1, random_state=0)
    return model.fit(ZOO["nmf"][1]())


def forecast():
    ahead = np.ones((3, 6, 3)) + np.arange(3)[:, None, None] / 9
    return plots.series_forecast(WAVES, WAVES + 0.1, ahead, names=["a", "b", "c"])


def spins():
    image = RNG.integers(0, 2, (12, 12))
    return plots.spins([image] * 2, [learned()[0]] * 2, [image] * 2, (4, 4), titles=["a", "b"])


def cells():
    """Return the cells of a square of six by five, numbered as `Grid` does."""
    from atomstream.fields.walks.trips import grid_cells

    south, west = np.meshgrid(np.arange(6), np.arange(5))
    return grid_cells(-33 + 0.008 * south.ravel(), -70 + 0.01 * west.ravel(), size=800)[0]


GRAPH = nx.to_numpy_array(nx.karate_club_graph())
FIGURES = {
    "adjacency": lambda: plots.adjacency(GRAPH, GRAPH / 2),
    "atoms": lambda: plots.atoms(learned()[0], (4, 4)),
    "bars": lambda: plots.bars(learned()[0]),
    "clustergram": lambda: plots.clustergram(of("consensus")),
    "comparison": lambda: plots.comparison({"blurred": PICTURE / 4}, PICTURE / 4),
    "curves": lambda: plots.curves(learned()[0]),
    "exposures": lambda: plots.exposures(RNG.random((9, 3)), ["a", "b", "c"], list("rstuvwxyz")),
    "factor_cycles": lambda: plots.factor_cycles(RNG.random((300, 2)), HOURS),
    "factor_numbers": lambda: plots.factor_numbers(RNG.random((3, 8)) + np.arange(3)[:, None]),
    "factor_profiles": lambda: plots.factor_profiles(
        RNG.random((2, 5)), ["Fe", "Zn", "Pb", "SO4", "OC"], ranges=RNG.random((2, 2, 5))
    ),
    "factor_series": lambda: plots.factor_series(RNG.random((300, 2)), HOURS),
    "intervals": lambda: plots.intervals(of("consensus")),
    "loadings": lambda: plots.loadings(of("tensors")),
    "material_map": lambda: plots.material_map(np.eye(12, dtype=int), ["sky", "grass"]),
    "mutation_profiles": lambda: plots.mutation_profiles(
        signatures.ChannelTable(RNG.random((2, 2)), ["a", "b"], ["A[C>A]A", "T[T>G]G"])
    ),
    "network_atoms": lambda: plots.network_atoms(of("networks")),
    "objective": lambda: plots.objective(learned()[1], unit="patch"),
    "partition_map": lambda: plots.partition_map(
        Grid(-33, -70, 800),
        cells(),
        RNG.integers(0, 3, 30),
        places={"Plaza": (-69.98, -32.98), "far away": (0.0, 0.0)},
    ),
    "parts": lambda: plots.parts(convex()),
    "rank": lambda: plots.rank(of("consensus").choice_),
    "rank_tree": lambda: plots.rank_tree(ranks()),
    "reconstruction": lambda: plots.reconstruction(PICTURE, PICTURE + 0.1),
    "reduced_chain": lambda: plots.reduced_chain([[0.9, 0.1], [0.2, 0.8]], [0.6, 0.4]),
    "series_atoms": lambda: plots.series_atoms(series(), names=["a", "b", "c"]),
    "series_change": lambda: plots.series_change(series(), names=["a", "b", "c"]),
    "series_forecast": forecast,
    "spatial_atoms": lambda: plots.spatial_atoms(of("frames")),
    "spins": spins,
    "temporal_atoms": lambda: plots.temporal_atoms(
        clone(of("frames")).set_params(mode="pixels").fit(ZOO["frames"][1]())
    ),
    "time_courses": lambda: plots.time_courses(
        of("frames"), of("frames").transform(ZOO["frames"][1]())
    ),
    "topics": lambda: plots.topics(topics()[0]),
    "topics_over_time": lambda: plots.topics_over_time(topics()[1]),
    "usage_maps": lambda: plots.usage_maps(
        RNG.random((30, 3)), RNG.random((30, 2)), names=[f"station {i}" for i in range(30)]
    ),
    "triples": lambda: plots.triples(learned()[0], learned()[2][:6], (4, 4)),
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


def test_names_of_places_stand_beside_those_that_use_an_atom_most():
    usages, names = RNG.random((30, 2)), [f"station {i}" for i in range(30)]
    figure = plots.usage_maps(usages, RNG.random((30, 2)), names=names)
    for atom in range(2):
        (axes,) = (a for a in figure.axes if a.get_title() == f"atom {atom}")
        wanted = {names[i] for i in np.argsort(-usages[:, atom])[:5]}
        assert {text.get_text() for text in axes.texts} == wanted
    (text,) = FIGURES["partition_map"]().axes[0].texts[:1]
    assert (text.get_text(), text.xy) == ("Plaza", (-69.98, -32.98))


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


@pytest.mark.parametrize(
    ("data", "model"),
    [
        (lambda m, order: plots.atoms_data(m, (4, 4), order=order)[0], lambda: learned()[0]),
        (lambda m, order: plots.curves_data(m, order=order)[0], lambda: learned()[0]),
        (lambda m, order: plots.series_atoms_data(m, order=order)[0], series),
        (
            lambda m, order: np.array(
                [dict(words).get("rain", 0.0) for _, _, words in plots.topics_data(m, order=order)]
            )[:, None],
            lambda: topics()[0],
        ),
    ],
)
def test_plots_draw_the_same_atoms_in_both_orders(data, model):
    one, other = (data(model(), order) for order in ("importance", "similarity"))
    assert sorted(map(str, one.tolist())) == sorted(map(str, other.tolist()))
    assert alike(other) >= alike(one) - 1e-9
    with pytest.raises(ValueError, match="choose one of importance, similarity"):
        data(model(), "size")


@pytest.mark.cover(2)
@pytest.mark.parametrize("name", ["atoms", "bars", "loadings", "network_atoms", "topics"])
def test_titles_follow_the_order(name):
    model = {
        "atoms": lambda: learned()[0],
        "bars": lambda: learned()[0],
        "loadings": lambda: of("tensors"),
        "network_atoms": lambda: of("networks"),
        "topics": lambda: topics()[0],
    }[name]()
    draw = functools.partial(plots.atoms, shape=(4, 4)) if name == "atoms" else getattr(plots, name)
    one, other = (
        [axes.get_title() for axes in draw(model, order=order).axes if axes.get_title()]
        for order in ("importance", "similarity")
    )
    assert sorted(one) == sorted(other)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(exist_ok=True)
    for title, make in FIGURES.items():
        make().savefig(place / f"{title}.png", dpi=70)
