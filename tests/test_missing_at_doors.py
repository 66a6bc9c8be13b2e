"""What is masked, null, None or NA means NaN at every door at which data come in."""

import inspect
import re
import warnings

import numpy as np
import pandas as pd
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
SPECIES = [f"c{number}" for number in range(6)]
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
        name, method, argument = (
            re.fullmatch(r"(\w+)(?:\.(\w+))?\((\w+)\)", door).groups()
            if (door.split("(")[0].split(".")[0] in MODELS)
            else (None, None, None)
        )
        if name is None or AT.get(argument) is None:
            continue
        if method is None and argument in ("codes", "classes", "batch", "components"):
            continue
        found[door] = AT[argument], of_model(name, method, argument)
    return found


def of_images(**settings):
    return atomstream.ImageDictionary(2, 3, n_patches=30, random_state=0, **settings)


def of_networks(motif="path:2", kind=atomstream.NetworkDictionary, **settings):
    settings |= {"n_batches": 1, "batch_size": 5, "random_state": 0}
    return kind(motif, 1, **settings)


def of_labelled_networks(motif="path:2", **settings):
    return of_networks(motif, atomstream.SupervisedNetworkDictionary, **settings)


def of_series():
    settings = {"window": 3, "n_init": 6, "n_init_batches": 1}
    return atomstream.SeriesDictionary(2, random_state=0, **settings)


def of_walks(**settings):
    return atomstream.RandomWalkFactorization(2, random_state=0, **settings)


def of_videos(**settings):
    return atomstream.VideoDictionary(2, random_state=0, **settings)


def of_colours():
    return atomstream.ColorRestorer(2, 4, n_patches=30, random_state=0)


RING = np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1)
SPLIT = networks.links.hide(RING, 0.34, random_state=0)


def coloured(image):
    stack = np.ma.dstack if np.ma.isMaskedArray(image) else np.dstack
    return {"a": stack([image] * 3), "b": stack([image] * 3)}


def species(values=WHOLE, uncertainties=CLEAN_ERRORS, **known):
    table = sources.SpeciesTable(values, uncertainties, SPECIES, **known)
    return np.concatenate([table.values, table.uncertainties], axis=1)


def framed(table):
    """Return a frame as it is; of others one with the columns that frames of `holes` have."""
    if hasattr(table, "columns"):
        return table
    table = np.ma.array(table, float) if isinstance(table, list) else table
    return pd.DataFrame(table, columns=[f"c{number}" for number in range(np.shape(table)[1])])


def read_species(values, uncertainties):
    return sources.read(framed(values), framed(uncertainties)).values


def history_of(held_out):
    history = History(held_out=held_out)
    model("OnlineNMF").set_callbacks(history).fit(WHOLE)
    return history.points["held_out"]


def rows_of(stream):
    return np.concatenate([np.asarray(batch, float) for batch in stream])


PARTITION = of_walks().fit(WALK)
PARTITION.partition(2)
GRID = walks.Grid(40.0, -74.0, 250.0)
TOPICS = atomstream.TopicModel(2, vectorizer="counts", random_state=0, n_epochs=1)
TOPICS.fit(DOCUMENTS)
WHOLE_IMAGE, WHOLE_VIDEO = np.nan_to_num(IMAGE), np.nan_to_num(VIDEO)
NET = networks.Network.of(GRAPH)
HOURS = np.datetime64("2020-01-06", "h") + np.arange(14)
START = holes(RNG.random((6, 2)), 3)
FACTORS = atomstream.find_sources(
    sources.SpeciesTable(WHOLE, CLEAN_ERRORS, SPECIES), 2, n_starts=1, random_state=0
)
STEPS = 20
DOORS = {
    # images and videos
    "ImageDictionary.fit(images)": (IMAGE, lambda X: of_images().fit(X)),
    "ImageDictionary.partial_fit(images)": (IMAGE, lambda X: of_images().partial_fit(X)),
    "ImageDictionary.from_components(components)": (
        VIDEO[2:4, :3, :3],
        lambda X: atomstream.ImageDictionary.from_components(X),
    ),
    "ImageDictionary.denoise(image)": (
        IMAGE,
        lambda X: of_images().fit(WHOLE_IMAGE).denoise(X, 0.1, adapt=False),
    ),
    "ImageDictionary.inpaint(image)": (
        IMAGE,
        lambda X: of_images().fit(WHOLE_IMAGE).inpaint(X, adapt=False),
    ),
    "ImageDictionary.inpaint(missing)": (
        FLAGS,
        lambda X: of_images().fit(WHOLE_IMAGE).inpaint(WHOLE_IMAGE, X, adapt=False),
    ),
    "ImageDictionary.reconstruct(image)": (
        IMAGE,
        lambda X: of_images().fit(WHOLE_IMAGE).reconstruct(X),
    ),
    "ColorRestorer.fit(examples)": (IMAGE, lambda X: of_colours().fit(coloured(X))),
    "ColorRestorer.restore(image)": (
        IMAGE,
        lambda X: of_colours().fit(coloured(WHOLE_IMAGE)).restore(X)[0],
    ),
    "domains.images.first_guess(image)": (IMAGE, images.first_guess),
    "domains.images.first_guess(missing)": (FLAGS, lambda X: images.first_guess(WHOLE_IMAGE, X)),
    "domains.images.noise_level(image)": (IMAGE, images.noise_level),
    "domains.images.psnr(image)": (IMAGE, lambda X: images.psnr(X, WHOLE_IMAGE)),
    "domains.images.psnr(reconstruction)": (IMAGE, lambda X: images.psnr(WHOLE_IMAGE, X)),
    "domains.images.reconstruct(image)": (
        IMAGE,
        lambda X: images.reconstruct(of_images().fit(WHOLE_IMAGE).learner_, X, 3),
    ),
    "VideoDictionary(init)": (
        holes(RNG.random((2, 16)), 3),
        lambda X: of_videos(init=X).fit(WHOLE_VIDEO),
    ),
    "VideoDictionary.fit(video)": (VIDEO, lambda X: of_videos().fit(X)),
    "VideoDictionary.fit_pixels(video)": (VIDEO, lambda X: of_videos(mode="pixels").fit_pixels(X)),
    "VideoDictionary.partial_fit(video)": (VIDEO, lambda X: of_videos().partial_fit(X)),
    "VideoDictionary.reconstruct(video)": (
        VIDEO,
        lambda X: of_videos().fit(WHOLE_VIDEO).reconstruct(X),
    ),
    "VideoDictionary.transform(video)": (
        VIDEO,
        lambda X: of_videos().fit(WHOLE_VIDEO).transform(X),
    ),
    # networks and chains
    "NetworkDictionary(motif)": (MOTIF, lambda X: of_networks(X).fit(GRAPH)),
    "NetworkDictionary.fit(network)": (HOLED_GRAPH, lambda X: of_networks().fit(X)),
    "NetworkDictionary.partial_fit(network)": (HOLED_GRAPH, lambda X: of_networks().partial_fit(X)),
    "NetworkDictionary.reconstruct(network)": (
        HOLED_GRAPH,
        lambda X: of_networks().fit(GRAPH).reconstruct(X, n_steps=STEPS),
    ),
    "NetworkDictionary.denoise(network)": (
        HOLED_GRAPH,
        lambda X: of_networks().fit(GRAPH).denoise(X, n_steps=STEPS).found.scores,
    ),
    "NetworkDictionary.denoise(pairs)": (
        PAIRS,
        lambda X: of_networks().fit(GRAPH).denoise(GRAPH, X, n_steps=STEPS).found.scores,
    ),
    "SupervisedNetworkDictionary(motif)": (
        MOTIF,
        lambda X: of_labelled_networks(X).fit([GRAPH, GRAPH], [0, 1]),
    ),
    "SupervisedNetworkDictionary(classes)": (
        holes([0, 1, 2], 2),
        lambda X: of_labelled_networks(classes=X).fit([GRAPH, GRAPH], [0, 1]),
    ),
    **{
        f"SupervisedNetworkDictionary.{name}(network)": (
            HOLED_GRAPH,
            lambda X, name=name: getattr(of_labelled_networks().fit([GRAPH, GRAPH], [0, 1]), name)(
                [X, GRAPH], **({"n_steps": STEPS} if name != "partial_fit" else {})
            ),
        )
        for name in ("mean_codes", "predict", "predict_proba", "partial_fit")
    },
    "SupervisedNetworkDictionary.fit(network)": (
        HOLED_GRAPH,
        lambda X: of_labelled_networks().fit([X, GRAPH], [0, 1]),
    ),
    "SupervisedNetworkDictionary.fit(y)": (
        holes([0, 1, 0], 2),
        lambda X: of_labelled_networks().fit([GRAPH] * 3, X),
    ),
    "SupervisedNetworkDictionary.score(y)": (
        holes([0, 1, 0], 2),
        lambda X: of_labelled_networks().fit([GRAPH] * 2, [0, 1]).score([GRAPH] * 3, X, n_steps=9),
    ),
    "SupervisedNetworkDictionary.score(network)": (
        HOLED_GRAPH,
        lambda X: of_labelled_networks().fit([GRAPH] * 2, [0, 1]).score([X], [0], n_steps=9),
    ),
    "SupervisedNetworkDictionary.reconstruct(network)": (
        HOLED_GRAPH,
        lambda X: of_labelled_networks().fit([GRAPH] * 2, [0, 1]).reconstruct(X, n_steps=STEPS),
    ),
    "SupervisedNetworkDictionary.denoise(network)": (
        HOLED_GRAPH,
        lambda X: of_labelled_networks().fit([GRAPH] * 2, [0, 1]).denoise(X).found.scores,
    ),
    "SupervisedNetworkDictionary.denoise(pairs)": (
        PAIRS,
        lambda X: of_labelled_networks().fit([GRAPH] * 2, [0, 1]).denoise(GRAPH, X).found.scores,
    ),
    "domains.networks.Motif.of(motif)": (MOTIF, lambda X: networks.Motif.of(X).adjacency()),
    "domains.networks.Network.of(data)": (HOLED_GRAPH, networks.Network.of),
    "domains.networks.Network.of(node_weights)": (
        NODES,
        lambda X: networks.Network.of(GRAPH, X).node_weights,
    ),
    "domains.networks.Network.of(labels)": (
        holes(np.arange(6), 2),
        lambda X: networks.Network.of(GRAPH, labels=X),
    ),
    "domains.networks.Network.places(pairs)": (PAIRS, NET.places),
    "domains.networks.links.Split.auc(scores)": (
        holes(np.arange(len(SPLIT.pairs)) / 9, 1),
        SPLIT.auc,
    ),
    "domains.networks.links.Split.roc(scores)": (
        holes(np.arange(len(SPLIT.pairs)) / 9, 1),
        lambda X: SPLIT.roc(X)[0],
    ),
    "domains.networks.links.fitted_scores(network)": (
        HOLED_GRAPH,
        lambda X: networks.links.fitted_scores(X, [(0, 1)]),
    ),
    "domains.networks.links.fitted_scores(pairs)": (
        PAIRS,
        lambda X: networks.links.fitted_scores(GRAPH, X),
    ),
    "domains.networks.links.hide(network)": (
        HOLED_GRAPH,
        lambda X: networks.links.hide(X, random_state=0).truth,
    ),
    "domains.networks.links.plant(network)": (
        HOLED_GRAPH,
        lambda X: networks.links.plant(X, random_state=0).truth,
    ),
    "domains.networks.links.neighbour_scores(network)": (
        HOLED_GRAPH,
        lambda X: list(networks.links.neighbour_scores(X, [(0, 1)]).values()),
    ),
    "domains.networks.links.neighbour_scores(pairs)": (
        PAIRS,
        lambda X: list(networks.links.neighbour_scores(GRAPH, X).values()),
    ),
    "domains.networks.links.svd_scores(network)": (
        HOLED_GRAPH,
        lambda X: list(networks.links.svd_scores(X, [(0, 1)]).values()),
    ),
    "domains.networks.links.svd_scores(pairs)": (
        PAIRS,
        lambda X: list(networks.links.svd_scores(GRAPH, X).values()),
    ),
    "samplers.RandomWalk(network)": (HOLED_GRAPH, lambda X: samplers.RandomWalk(X).transitions()),
    "samplers.RandomWalk.init(position)": (
        holes([0], 0),
        lambda X: samplers.RandomWalk(NET).init(RNG, X),
    ),
    **{
        f"samplers.{chain}({argument})": (
            {"network": HOLED_GRAPH, "motif": MOTIF, "node_weights": NODES}[argument],
            lambda X, chain=chain, argument=argument: getattr(samplers, chain)(
                **{"network": GRAPH, "motif": "path:2"} | {argument: X}
            ).init(np.random.default_rng(0)),
        )
        for chain in ("MotifGlauber", "MotifPivot")
        for argument in ("network", "motif", "node_weights")
    },
    **{
        f"samplers.{chain}.init(position)": (
            holes([0, 1], 1),
            lambda X, chain=chain: getattr(samplers, chain)(NET, "path:2").init(RNG, X),
        )
        for chain in ("MotifGlauber", "MotifPivot")
    },
    **{
        f"samplers.{name}({argument})": (
            {"network": HOLED_GRAPH, "motif": MOTIF, "node_weights": NODES}[argument],
            lambda X, name=name, argument=argument: [
                *np.ravel(
                    getattr(samplers, name)(
                        **{"network": GRAPH, "motif": "path:2"}
                        | {argument: X}
                        | ({"n_samples": 3, "random_state": 0} if name == "significance" else {})
                    )[0:1]
                    if name == "homomorphisms"
                    else getattr(
                        getattr(samplers, name)(
                            **{"network": GRAPH, "motif": "path:2"}
                            | {argument: X}
                            | (
                                {"n_samples": 3, "random_state": 0}
                                if name == "significance"
                                else {}
                            )
                        ),
                        "count",
                        0.0,
                    )
                )
            ],
        )
        for name in ("homomorphisms", "homomorphism_density", "significance")
        for argument in ("network", "motif", "node_weights")
        if (name, argument) != ("significance", "node_weights")
    },
    "samplers.IsingGibbs.init(position)": (
        holes(np.ones((3, 3)), 4),
        lambda X: samplers.IsingGibbs((3, 3), 1.0).init(RNG, X),
    ),
    "samplers.IsingGibbs.energy(states)": (
        holes(np.ones((3, 3)), 4),
        lambda X: samplers.IsingGibbs((3, 3), 1.0).energy(X),
    ),
    "symmetric_nmf(edges)": (
        HOLED_GRAPH,
        lambda X: atomstream.symmetric_nmf(X, 2, random_state=0).values,
    ),
    # walks
    "RandomWalkFactorization(init)": (START, lambda X: of_walks(n_states=3, init=X).fit(WALK)),
    "RandomWalkFactorization.fit(states)": (PLACES, lambda X: of_walks().fit(X).embedding_),
    "RandomWalkFactorization.partial_fit(states)": (
        PLACES,
        lambda X: of_walks().partial_fit(X).embedding_,
    ),
    "RandomWalkFactorization.predict(states)": (PLACES, lambda X: PARTITION.predict(X)),
    "RandomWalkFactorization.fit_stream(batches)": (
        PLACES,
        lambda X: of_walks().fit_stream([X]).embedding_,
    ),
    "RandomWalkFactorization.partial_fit_transitions(origins)": (
        PLACES,
        lambda X: of_walks().partial_fit_transitions(X, WALK[:8]).embedding_,
    ),
    "RandomWalkFactorization.partial_fit_transitions(destinations)": (
        PLACES,
        lambda X: of_walks().partial_fit_transitions(WALK[:8], X).embedding_,
    ),
    "RandomWalkFactorization.partial_fit_transitions(weights)": (
        holes(np.ones(8), 2),
        lambda X: of_walks().partial_fit_transitions(WALK[:8], WALK[1:9], X).embedding_,
    ),
    "domains.walks.grid_cells(latitude)": (NORTH, lambda X: walks.grid_cells(X, NORTH - 110)[0]),
    "domains.walks.grid_cells(longitude)": (NORTH, lambda X: walks.grid_cells(NORTH, X)[0]),
    "domains.walks.Grid.cells(latitude)": (NORTH, lambda X: GRID.cells(X, NORTH - 114)),
    "domains.walks.Grid.cells(longitude)": (NORTH, lambda X: GRID.cells(NORTH, X)),
    "domains.walks.Grid.corners(cells)": (PLACES, GRID.corners),
    "domains.walks.Grid.geojson(cells)": (PLACES, lambda X: len(GRID.geojson(X, WALK[:8]))),
    "domains.walks.Grid.geojson(labels)": (PLACES, lambda X: len(GRID.geojson(WALK[:8], X))),
    "diagnostics.lumpability(counts)": (
        HOLED_GRAPH,
        lambda X: diagnostics.lumpability(X, np.arange(6) % 2),
    ),
    "diagnostics.mcmc_diagnostics(values)": (
        WEIGHTS + np.arange(14),
        lambda X: diagnostics.mcmc_diagnostics(X).autocorrelation_time,
    ),
    # series
    "SeriesDictionary.fit(Y)": (TABLE, lambda X: of_series().fit(X)),
    "SeriesDictionary.fit(init)": (
        TABLE,
        lambda X: of_series().fit(WHOLE, init=X),
    ),
    "SeriesDictionary.fit(exogenous)": (
        TABLE[:, :2],
        lambda X: of_series().fit(WHOLE[:12], exogenous=X),
    ),
    "SeriesDictionary.partial_fit(Y)": (TABLE, lambda X: of_series().partial_fit(X)),
    "SeriesDictionary.partial_fit(exogenous)": (
        TABLE[:, :2],
        lambda X: of_series().partial_fit(WHOLE[:12], exogenous=X),
    ),
    "SeriesDictionary.impute(Y)": (TABLE, lambda X: of_series().fit(WHOLE).impute(X)),
    "SeriesDictionary.reconstruct(Y)": (TABLE, lambda X: of_series().fit(WHOLE).reconstruct(X)),
    "SeriesDictionary.predict(exogenous)": (
        holes(RNG.random((2, 1)), 1),
        lambda X: of_series().fit(WHOLE[:12], exogenous=WHOLE[:, :1]).predict(2, exogenous=X),
    ),
    "SeriesDictionary.predict_interval(exogenous)": (
        holes(RNG.random((2, 1)), 1),
        lambda X: (
            of_series().fit(WHOLE[:12], exogenous=WHOLE[:, :1]).predict_interval(2, exogenous=X)
        ),
    ),
    "choose_forecaster(Y)": (
        holes(np.tile(WHOLE, (3, 1)), 5),
        lambda X: (
            atomstream.choose_forecaster(
                X, windows=(3,), atoms=(2,), ridges=(0.1,), random_state=0
            ).errors
        ),
    ),
    **{
        f"domains.series.{name}.{method}": (
            TABLE,
            lambda X, name=name, method=method: getattr(
                getattr(series, name)().fit(WHOLE if "fit" not in method else X),
                "transform" if "fit" in method else method[:-3],
            )(X),
        )
        for name in ("Log1p", "MovingAverage", "NonnegativeScaler")
        for method in ("fit(Y)", "fit_transform(X)", "transform(Y)", "inverse_transform(Y)")
    },
    "domains.series.change_points(series)": (
        TABLE,
        lambda X: series.change_points(X, n_draws=99, min_size=3).times,
    ),
    # topics
    "TopicModel.topics_over_time(times)": (
        WEIGHTS + np.arange(14),
        lambda X: TOPICS.topics_over_time(DOCUMENTS, X, bins=3).shares,
    ),
    "TopicModel.topics_over_time(bins)": (
        holes([0, 5, 14], 1),
        lambda X: TOPICS.topics_over_time(DOCUMENTS, np.arange(14.0), bins=X).shares,
    ),
    # signatures and sources
    "domains.signatures.ChannelTable(values)": (
        COUNTS,
        lambda X: signatures.ChannelTable(X, list("abcd"), list("vwxyz")).values,
    ),
    "domains.signatures.read(source)": (COUNTS, lambda X: signatures.read(framed(X)).values),
    "domains.sources.SpeciesTable(values)": (TABLE, species),
    "domains.sources.SpeciesTable(uncertainties)": (ERRORS, lambda X: species(WHOLE, X)),
    "domains.sources.SpeciesTable(total)": (
        WEIGHTS,
        lambda X: sources.SpeciesTable(WHOLE, CLEAN_ERRORS, SPECIES, total=X).total,
    ),
    "domains.sources.SpeciesTable(limits)": (ROW, lambda X: species(limits=X)),
    "domains.sources.SpeciesTable(dates)": (
        WEIGHTS + np.arange(14),
        lambda X: species(dates=X),
    ),
    "domains.sources.read(concentrations)": (TABLE, lambda X: read_species(X, CLEAN_ERRORS)),
    "domains.sources.read(uncertainties)": (ERRORS, lambda X: read_species(WHOLE, X)),
    "domains.sources.per_cent(profiles)": (ATOMS, sources.per_cent),
    "domains.sources.mapped_to(contributions)": (CODES, lambda X: sources.mapped_to(X, WHOLE)),
    "domains.sources.mapped_to(others)": (CODES, lambda X: sources.mapped_to(WHOLE, X)),
    "find_sources(anchors)": (
        ATOMS[:1],
        lambda X: atomstream.find_sources(
            sources.SpeciesTable(WHOLE, CLEAN_ERRORS, SPECIES),
            2,
            anchors=X,
            n_starts=1,
            random_state=0,
        ),
    ),
    # functions of rows and of atoms
    "align(model_a)": (ATOMS, lambda X: atomstream.align(X, WHOLE[:2]).similarity),
    "align(model_b)": (ATOMS, lambda X: atomstream.align(WHOLE[:2], X).similarity),
    "callbacks.History(held_out)": (TABLE, history_of),
    "choose_rank(X)": (
        TABLE,
        lambda X: atomstream.choose_rank(X, [1, 2], n_seeds=2, random_state=0).errors,
    ),
    "online_parafac(X)": (
        TENSOR,
        lambda X: np.concatenate(
            atomstream.online_parafac(X, 2, missing=True, n_epochs=1, random_state=0).factors
        ),
    ),
    "sparse_encode(X)": (TABLE, lambda X: atomstream.sparse_encode(X, WHOLE[:2])),
    "sparse_encode(dictionary)": (ATOMS, lambda X: atomstream.sparse_encode(WHOLE, X)),
    "sparse_encode(start)": (
        CODES,
        lambda X: atomstream.sparse_encode(WHOLE, WHOLE[:2], start=X),
    ),
    "losses.Mahalanobis(A)": (P, lambda X: Mahalanobis(X).A),
    # streams
    "streams.CubeRows(cube)": (TENSOR, lambda X: streams.CubeRows(X, (0, 1))[:]),
    "streams.OnDisk(rows)": (TABLE, lambda X: model("OnlineNMF").fit(streams.OnDisk(X))),
    "streams.batches(X)": (TABLE, lambda X: rows_of(streams.batches(X, 5, rng=0))),
    "streams.patches(image)": (IMAGE, lambda X: rows_of(streams.patches([X], 4))),
    "streams.windows(series)": (TABLE, lambda X: rows_of(streams.windows(X, 3))),
    "domains.tensors.Axes.of(X)": (TENSOR, lambda X: tensors.Axes.of(X, None).shape),
    "domains.tensors.Axes.flatten(X)": (
        TENSOR,
        lambda X: tensors.Axes.of_groups((2, 3), None).flatten(X),
    ),
    # what plots draw
    "looks.plots.adjacency_data(before)": (HOLED_GRAPH, lambda X: plots.adjacency_data(X)),
    "looks.plots.adjacency_data(after)": (HOLED_GRAPH, lambda X: plots.adjacency_data(GRAPH, X)),
    "looks.plots.comparison_data(original)": (
        IMAGE,
        lambda X: plots.comparison_data({"a": WHOLE_IMAGE}, X)[0][1],
    ),
    "looks.plots.comparison_data(pictures)": (
        IMAGE,
        lambda X: plots.comparison_data({"a": X})[0][1],
    ),
    "looks.plots.exposures_data(values)": (CODES, lambda X: plots.exposures_data(X)[1]),
    "looks.plots.factor_cycles_data(contributions)": (
        CODES,
        lambda X: plots.factor_cycles_data(X, HOURS)[0][1],
    ),
    "looks.plots.material_map_data(classes)": (
        holes(np.zeros((3, 3)), 4),
        lambda X: plots.material_map_data(X, ["a"])[0],
    ),
    "looks.plots.partition_map_data(labels)": (
        LABELS,
        lambda X: plots.partition_map_data(GRID, np.arange(14), X)[1],
    ),
    "looks.plots.partition_map_data(cells)": (
        WEIGHTS + np.arange(14),
        lambda X: plots.partition_map_data(GRID, X, np.arange(14))[0],
    ),
    "looks.plots.reconstruction_data(image)": (
        IMAGE,
        lambda X: plots.reconstruction_data(X, WHOLE_IMAGE)[2],
    ),
    "looks.plots.reconstruction_data(approximation)": (
        IMAGE,
        lambda X: plots.reconstruction_data(WHOLE_IMAGE, X)[2],
    ),
    "looks.plots.series_forecast_data(observed)": (
        TABLE,
        lambda X: plots.series_forecast_data(X, WHOLE)[0],
    ),
    "looks.plots.series_forecast_data(predicted)": (
        TABLE,
        lambda X: plots.series_forecast_data(WHOLE, X)[1],
    ),
    "looks.plots.series_forecast_data(ahead)": (
        TENSOR[:1, :, :],
        lambda X: plots.series_forecast_data(WHOLE[:, :3], WHOLE[:, :3], X)[2],
    ),
    "looks.plots.triples_data(rows)": (
        TABLE,
        lambda X: plots.triples_data(learned("OnlineNMF"), X, 2)[0],
    ),
    "looks.plots.usage_maps_data(usages)": (
        CODES,
        lambda X: plots.usage_maps_data(X, WHOLE[:, :2])[1],
    ),
    "looks.plots.usage_maps_data(places)": (CODES, lambda X: plots.usage_maps_data(WHOLE, X)[2]),
    "looks.plots.time_courses_data(codes)": (
        CODES,
        lambda X: plots.time_courses_data(of_videos().fit(WHOLE_VIDEO), X),
    ),
}


# Arguments that hold no data in spite of their names, and why.
NO_DATA = {
    "ignored": r"\w+\.(partial_)?fit(_transform)?\(y\)|domains\.series.*\(y\)",
    "options": r".*\((missing|codes|labels|time|classes)\)|.*denoise\(scores\)|TopicModel\(anchors\)"
    r"|.*(ChannelTable|SpeciesTable)\(source\)|.*read\(total\)|.*adjacency_data\(cells\)",
    "results": r"diagnostics\.(SampleReport.*|stationarity.*)|domains\.cells\.Genes.*"
    r"|domains\.networks\.(Motif|Network|Ranking|Reconstruction|Scores|Shrinkage|links\.Split)[(.].*"
    r"|domains\.series\.ChangePoints.*|domains\.signatures\.(Decomposition|Exposures).*"
    r"|domains\.sources\.(Factors|Ranges).*|domains\.(tensors\.Axes|text\.Vocabulary).*"
    r"|domains\.walks\.Grid\(.*|looks\.\w+Look\..*|symmetric_nmf\(start\)",
    "states of chains": r"samplers\.(Motif)?Chain.*|.*\.patches\(states\)",
    "held by AnnData, or sparse": r"domains\.cells.*|TopicModel\.\w+_counts\(counts\)",
    "checked where the file is read": r"domains\.sources\.read\(limits\)",
    "drawn as they are": r"looks\.plots\.(spins|factor_|partition_map|reduced_chain|exposures).*"
    r"|looks\.plots\.series_forecast\(labels\)|.*geojson\(visits\)|.*images\.white.*",
    "their data are a door": "report.*",
}


def is_drawn_from_a_door(door):
    """Return whether a plot is given what the function that returns its data is given."""
    name, argument = door.rstrip(")").split("(")
    return f"{name}_data({argument})" in DOORS


def test_every_public_argument_that_takes_data_is_a_door_here():
    left = set(public()) - doors_of_models().keys() - DOORS.keys()
    strange = [
        door
        for door in left
        if not is_drawn_from_a_door(door)
        and not any(re.fullmatch(kind, door) for kind in NO_DATA.values())
    ]
    assert not strange, strange
    assert (len(doors_of_models()), len(DOORS)) == (227, 164)


def outcome(call, given):
    """Return the numbers that a call makes of data, or None where it refuses them in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return figures(call(given))
        except (TypeError, ValueError) as refusal:
            assert len(str(refusal)) > 20
            return None


def check(given, call):
    expected = outcome(call, given)
    for form, make in forms(given).items():
        made = outcome(call, make(given))
        # A list is no batch of some streams, nor objects an image.
        if made is None and outcome(call, make(np.nan_to_num(given, nan=1.0))) is None:
            continue
        assert (made is None) == (expected is None), form
        if made is not None:
            assert_allclose(made, expected, rtol=1e-7, err_msg=form)


@pytest.mark.parametrize("door", DOORS)
def test_what_is_missing_is_missing_at_every_door(door):
    check(*DOORS[door])


@pytest.mark.parametrize("door", doors_of_models())
def test_what_is_missing_is_missing_for_every_method_of_models(door):
    check(*doors_of_models()[door])
