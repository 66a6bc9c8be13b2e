"""What is masked, null, None or NA means NaN at every door at which data come in."""

import inspect
import re
import warnings

import numpy as np
import pytest
from holes import FILL, arguments, forms, public
from numpy.testing import assert_allclose

import atomstream
from atomstream import (
    diagnostics,
    images,
    networks,
    samplers,
    series,
    signatures,
    sources,
    streams,
    tensors,
    walks,
)
from atomstream.callbacks import History
from atomstream.looks import plots
from atomstream.losses import Mahalanobis

RNG = np.random.default_rng(0)
WHOLE = np.round(RNG.gamma(1, 1, (14, 2)) @ RNG.random((2, 6)) + 0.1, 3)


def holes(X, *places):
    """Return a copy with NaN at these places of the flattened array."""
    X = np.array(X, float)
    X.flat[list(places)] = np.nan
    return X


TABLE, ATOMS, CODES = holes(WHOLE, 5, 20, 50), holes(WHOLE[:2], 3), holes(WHOLE[:, :2], 3, 8)
ROW, WEIGHTS = holes(WHOLE[0], 2), holes(np.ones(14), 3)
OBSERVED, ERRORS = holes(np.ones(WHOLE.shape), 7), holes(0.05 * WHOLE + 0.01, 9)
LABELS = holes(np.arange(14) % 2, 1, 6)
TENSOR, VIDEO = TABLE.reshape(14, 2, 3), holes(RNG.random((16, 4, 4)), 40)
IMAGE, FLAGS = holes(RNG.random((20, 20)), 33), holes(RNG.random((20, 20)) < 0.1, 33)
GRAPH = 1.0 - np.eye(6)
HOLED_GRAPH, MOTIF, NODES = holes(GRAPH, 3), holes([[0, 1], [0, 0]], 1), holes(np.ones(6), 2)
PLACES = holes([0, 1, 2, 1, 0, 2, 1, 0], 4)
PAIRS = holes([[0, 1], [2, 3]], 1)
NORTH = holes(40 + RNG.random(14) / 10, 3)
COUNTS = holes(RNG.poisson(9.0, (4, 5)), 6)
P = holes(np.full((3, 3), 1 / 3), 4)
WALK = np.arange(60) * 7 % 3
DOCUMENTS = ["the cat chased a mouse", "stocks and bonds fell"] * 7
SPECIES = [f"s{number}" for number in range(6)]
CLEAN_ERRORS = 0.05 * WHOLE + 0.01


def model(name, **settings):
    """Return a model of rows of any of these classes, with missing entries where it takes them."""
    kind = getattr(atomstream, name)
    known = inspect.signature(kind).parameters
    own = {"n_components": 2, "n_epochs": 1, "random_state": 0, "missing": True, "n_shared": 1}
    own |= {"n_own": 1, "n_representatives": 4, "n_replicates": 2}
    if name == "ConsensusNMF":
        own["n_components"] = [2]
    chosen = {argument: value for argument, value in own.items() if argument in known}
    return kind(**chosen | settings)


def learned(name):
    target = {"y": LABELS} if name == "SupervisedDictionary" else {}
    beside = {"covariates": WHOLE[:, :1]} if target else {}
    return model(name).fit(WHOLE, **target, **beside)


def figures(made):
    """Return what a call returned as numbers."""
    found = made.components_ if hasattr(made, "components_") else made
    found = np.concatenate(list(found)) if inspect.isgenerator(found) else found
    for name in ("code", "values", "matrix", "out", "profiles", "factors", "errors"):
        found = getattr(found, name) if hasattr(found, name) and name != "values" else found
    found = found.toarray() if hasattr(found, "toarray") else found
    return np.asarray(found, float)


MODELS = [
    "BatchNMF",
    "ConsensusNMF",
    "OnlineCPDictionary",
    "OnlineConvexMF",
    "OnlineDictionaryLearning",
    "OnlineNMF",
    "SupervisedDictionary",
]
LEARN = ("fit", "fit_transform", "partial_fit")
# What stands at an argument of a method of a model of rows.
AT = {
    "X": TABLE,
    "x": ROW,
    "codes": CODES,
    "components": ATOMS,
    "mask": OBSERVED,
    "entry_weight": OBSERVED,
    "sample_weight": WEIGHTS,
    "y": LABELS,
    "covariates": holes(WHOLE[:, :1], 2),
    "ids": np.where(np.isnan(WEIGHTS), np.nan, np.arange(14.0)),
    "batch": LABELS,
    "batches": TABLE,
    "classes": holes([0, 1, 2], 2),
    "init": ATOMS,
    "data_sets": LABELS,
    "time": None,
}


def of_model(name, method, argument):
    """Return what calls a method with one argument given, and the others whole."""

    def call(given):
        if method is None:
            return model(name, **{argument: given}).fit(WHOLE)
        if method == "from_components":
            return getattr(atomstream, name).from_components(given).transform(WHOLE)
        made = model(name) if method in (*LEARN, "fit_stream") else learned(name)
        function, known = getattr(made, method), {}
        if argument == "batches":
            return function([given])
        if argument not in ("X", "codes", "x"):
            known["X"] = WHOLE
        known[argument] = given
        if name == "SupervisedDictionary":
            needs = {"y": np.nan_to_num(LABELS)}
            if method not in (*LEARN, "score"):
                needs = {}
            if method in (*LEARN, "score", "predict", "predict_proba", "decision_function"):
                needs["covariates"] = WHOLE[:, :1]
            known = {n: v for n, v in needs.items() if n in arguments(function)} | known
        return function(**known)

    return call


def doors_of_models():
    """Return the calls of all public methods of models of rows, by name and argument."""
    found = {}
    for door in public():
        name, method, argument = re.fullmatch(r"(\w+)(?:\.(\w+))?\((\w+)\)", door).groups() if (
            door.split("(")[0].split(".")[0] in MODELS
        ) else (None, None, None)
        if name is None or AT.get(argument) is None:
            continue
        if method is None and argument in ("codes", "classes", "batch", "components"):
            continue
        found[door] = AT[argument], of_model(name, method, argument)
    return found



def fitted(name, *data, **settings):
    """Return a small model of a field that has learned from whole data."""
    return getattr(atomstream, name)(random_state=0, **settings).fit(*data)


def of_images(**settings):
    return atomstream.ImageDictionary(2, 3, n_patches=30, random_state=0, **settings)


def of_networks(motif="path:2"):
    return atomstream.NetworkDictionary(motif, 1, n_batches=1, batch_size=5, random_state=0)


def of_series():
    settings = {"window": 3, "n_init": 6, "n_init_batches": 1}
    return atomstream.SeriesDictionary(2, random_state=0, **settings)


def of_walks(**settings):
    return atomstream.RandomWalkFactorization(2, random_state=0, **settings)


def of_videos(**settings):
    return atomstream.VideoDictionary(2, random_state=0, **settings)


def of_colours():
    return atomstream.ColorRestorer(2, 4, n_patches=30, random_state=0)


def coloured(image):
    return {"a": np.dstack([image] * 3), "b": np.dstack([0.5 * image] * 3)}


def species(values=WHOLE, uncertainties=CLEAN_ERRORS, **known):
    table = sources.SpeciesTable(values, uncertainties, SPECIES, **known)
    return np.concatenate([table.values, table.uncertainties], axis=1)


def read_species(values=WHOLE, uncertainties=CLEAN_ERRORS, limits=None):
    names = [f"c{number}" for number in range(6)]
    given = (
        each if hasattr(each, "columns") or each is None else pd.DataFrame(each, columns=names)
        for each in (values, uncertainties, limits)
    )
    values, uncertainties, limits = given
    return sources.read(values, uncertainties, limits=limits).values


def counted(table):
    """Return the values of a table by channel, whose channels are the columns given."""
    values = table if not hasattr(table, "columns") else table.T
    return values


def times_of(found):
    return found.shares


def history_of(held_out):
    history = History(held_out=held_out)
    atomstream.OnlineNMF(2, n_epochs=1, random_state=0).set_callbacks(history).fit(WHOLE)
    return history.points["held_out"]


def patches_of(image):
    return np.concatenate(list(streams.patches(image, 4)))


def rows_of(stream):
    return np.concatenate([np.asarray(batch, float) for batch in stream])


GRID = walks.Grid(40.0, -74.0, 250.0)
TOPICS = atomstream.TopicModel(2, vectorizer="counts", random_state=0, n_epochs=1).fit(DOCUMENTS)
WHOLE_IMAGE = np.nan_to_num(IMAGE)
WHOLE_VIDEO = np.nan_to_num(VIDEO)
CYCLES = np.datetime64("2020-01-06", "h") + np.arange(14)
DOORS = {
    # images and videos
    "ImageDictionary.fit(images)": (IMAGE, lambda X: of_images().fit(X).components_),
    "ImageDictionary.partial_fit(images)": (IMAGE, lambda X: of_images().partial_fit(X)),
    "ImageDictionary.from_components(components)": (
        VIDEO[:2, :3, :3], lambda X: atomstream.ImageDictionary.from_components(X)
    ),
    "ImageDictionary.denoise(image)": (
        IMAGE, lambda X: of_images().fit(WHOLE_IMAGE).denoise(X, 0.1, adapt=False)
    ),
    "ImageDictionary.inpaint(image)": (
        IMAGE, lambda X: of_images().fit(WHOLE_IMAGE).inpaint(X, adapt=False)
    ),
    "ImageDictionary.inpaint(missing)": (
        FLAGS, lambda X: of_images().fit(WHOLE_IMAGE).inpaint(WHOLE_IMAGE, X, adapt=False)
    ),
    "ImageDictionary.reconstruct(image)": (
        IMAGE, lambda X: of_images().fit(WHOLE_IMAGE).reconstruct(X)
    ),
    "ColorRestorer.fit(examples)": (IMAGE, lambda X: of_colours().fit(coloured(np.ma.array(X)))),
    "ColorRestorer.restore(image)": (
        IMAGE, lambda X: of_colours().fit(coloured(WHOLE_IMAGE)).restore(X).image
    ),
    "domains.images.first_guess(image)": (IMAGE, images.first_guess),
    "domains.images.first_guess(missing)": (FLAGS, lambda X: images.first_guess(WHOLE_IMAGE, X)),
    "domains.images.noise_level(image)": (IMAGE, images.noise_level),
    "domains.images.psnr(image)": (IMAGE, lambda X: images.psnr(X, WHOLE_IMAGE)),
    "domains.images.psnr(reconstruction)": (IMAGE, lambda X: images.psnr(WHOLE_IMAGE, X)),
    "domains.images.reconstruct(image)": (
        IMAGE, lambda X: images.reconstruct(of_images().fit(WHOLE_IMAGE).learner_, X, 3)
    ),
    "VideoDictionary(init)": (
        holes(RNG.random((2, 16)), 3), lambda X: of_videos(init=X).fit(WHOLE_VIDEO)
    ),
    "VideoDictionary.fit(video)": (VIDEO, lambda X: of_videos().fit(X)),
    "VideoDictionary.fit_pixels(video)": (VIDEO, lambda X: of_videos(mode="pixels").fit_pixels(X)),
    "VideoDictionary.partial_fit(video)": (VIDEO, lambda X: of_videos().partial_fit(X)),
    "VideoDictionary.reconstruct(video)": (
        VIDEO, lambda X: of_videos().fit(WHOLE_VIDEO).reconstruct(X)
    ),
    "VideoDictionary.transform(video)": (
        VIDEO, lambda X: of_videos().fit(WHOLE_VIDEO).transform(X)
    ),
    # networks, motifs and chains
    "NetworkDictionary(motif)": (MOTIF, lambda X: of_networks(X).fit(GRAPH)),
    "NetworkDictionary.fit(network)": (HOLED_GRAPH, lambda X: of_networks().fit(X)),
    "NetworkDictionary.partial_fit(network)": (HOLED_GRAPH, lambda X: of_networks().partial_fit(X)),
    "NetworkDictionary.reconstruct(network)": (
        HOLED_GRAPH, lambda X: of_networks().fit(GRAPH).reconstruct(X, n_steps=20)
    ),
    "NetworkDictionary.denoise(network)": (
        HOLED_GRAPH, lambda X: of_networks().fit(GRAPH).denoise(X, n_steps=20)
    ),
    "NetworkDictionary.denoise(pairs)": (
        PAIRS, lambda X: of_networks().fit(GRAPH).denoise(GRAPH, X, n_steps=20).found.scores
    ),
    "domains.networks.Motif.of(motif)": (MOTIF, lambda X: networks.Motif.of(X).adjacency()),
    "domains.networks.Network.of(data)": (HOLED_GRAPH, networks.Network.of),
    "domains.networks.Network.of(node_weights)": (
        NODES, lambda X: networks.Network.of(GRAPH, X).node_weights
    ),
    "domains.networks.Network.of(labels)": (
        holes(np.arange(6), 2), lambda X: networks.Network.of(GRAPH, labels=X).out
    ),
    "domains.networks.Network.places(pairs)": (
        PAIRS, lambda X: networks.Network.of(GRAPH).places(X)
    ),
    "domains.networks.links.Split.auc(scores)": (
        holes(RNG.random(30), 4), lambda X: networks.hide(GRAPH, 0.3, random_state=0).auc(X[:6])
    ),
}
