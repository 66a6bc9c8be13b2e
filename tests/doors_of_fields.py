"""Calls of what takes images, videos, networks, motifs, states and positions."""

import numpy as np
from given import (
    FLAGS,
    GRAPH,
    HOLED_GRAPH,
    IMAGE,
    MOTIF,
    NODES,
    NORTH,
    PAIRS,
    PLACES,
    RNG,
    VIDEO,
    WALK,
    WEIGHTS,
    WHOLE_IMAGE,
    WHOLE_VIDEO,
    holes,
)

import atomstream
from atomstream import diagnostics, images, networks, samplers, walks


def of_images(**settings):
    return atomstream.ImageDictionary(2, 3, n_patches=30, random_state=0, **settings)


def of_networks(motif="path:2", **settings):
    settings |= {"n_batches": 1, "batch_size": 5, "random_state": 0}
    return atomstream.NetworkDictionary(motif, 1, **settings)


def of_walks(**settings):
    return atomstream.RandomWalkFactorization(2, random_state=0, **settings)


def of_videos(**settings):
    return atomstream.VideoDictionary(2, random_state=0, **settings)


def of_colours():
    return atomstream.ColorRestorer(2, 4, n_patches=30, random_state=0)


def coloured(image):
    stack = np.ma.dstack if np.ma.isMaskedArray(image) else np.dstack
    return {"a": stack([image] * 3), "b": stack([image] * 3)}


RING = np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1)
SPLIT = networks.links.hide(RING, 0.34, random_state=0)
PARTITION = of_walks().fit(WALK)
PARTITION.partition(2)
GRID = walks.Grid(40.0, -74.0, 250.0)
NET = networks.Network.of(GRAPH)
START = holes(RNG.random((6, 2)), 3)
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
    "fields.images.first_guess(image)": (IMAGE, images.first_guess),
    "fields.images.first_guess(missing)": (FLAGS, lambda X: images.first_guess(WHOLE_IMAGE, X)),
    "fields.images.noise_level(image)": (IMAGE, images.noise_level),
    "fields.images.psnr(image)": (IMAGE, lambda X: images.psnr(X, WHOLE_IMAGE)),
    "fields.images.psnr(reconstruction)": (IMAGE, lambda X: images.psnr(WHOLE_IMAGE, X)),
    "fields.images.reconstruct(image)": (
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
    "fields.networks.Motif.of(motif)": (MOTIF, lambda X: networks.Motif.of(X).adjacency()),
    "fields.networks.Network.of(data)": (HOLED_GRAPH, networks.Network.of),
    "fields.networks.Network.of(node_weights)": (
        NODES,
        lambda X: networks.Network.of(GRAPH, X).node_weights,
    ),
    "fields.networks.Network.of(labels)": (
        holes(np.arange(6), 2),
        lambda X: networks.Network.of(GRAPH, labels=X),
    ),
    "fields.networks.Network.places(pairs)": (PAIRS, NET.places),
    "fields.networks.links.Split.auc(scores)": (
        holes(np.arange(len(SPLIT.pairs)) / 9, 1),
        SPLIT.auc,
    ),
    "fields.networks.links.Split.roc(scores)": (
        holes(np.arange(len(SPLIT.pairs)) / 9, 1),
        lambda X: SPLIT.roc(X)[0],
    ),
    "fields.networks.links.fitted_scores(network)": (
        HOLED_GRAPH,
        lambda X: networks.links.fitted_scores(X, [(0, 1)]),
    ),
    "fields.networks.links.fitted_scores(pairs)": (
        PAIRS,
        lambda X: networks.links.fitted_scores(GRAPH, X),
    ),
    "fields.networks.links.hide(network)": (
        HOLED_GRAPH,
        lambda X: networks.links.hide(X, random_state=0).truth,
    ),
    "fields.networks.links.plant(network)": (
        HOLED_GRAPH,
        lambda X: networks.links.plant(X, random_state=0).truth,
    ),
    "fields.networks.links.neighbour_scores(network)": (
        HOLED_GRAPH,
        lambda X: list(networks.links.neighbour_scores(X, [(0, 1)]).values()),
    ),
    "fields.networks.links.neighbour_scores(pairs)": (
        PAIRS,
        lambda X: list(networks.links.neighbour_scores(GRAPH, X).values()),
    ),
    "fields.networks.links.svd_scores(network)": (
        HOLED_GRAPH,
        lambda X: list(networks.links.svd_scores(X, [(0, 1)]).values()),
    ),
    "fields.networks.links.svd_scores(pairs)": (
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
    "fields.walks.grid_cells(latitude)": (NORTH, lambda X: walks.grid_cells(X, NORTH - 110)[0]),
    "fields.walks.grid_cells(longitude)": (NORTH, lambda X: walks.grid_cells(NORTH, X)[0]),
    "fields.walks.Grid.cells(latitude)": (NORTH, lambda X: GRID.cells(X, NORTH - 114)),
    "fields.walks.Grid.cells(longitude)": (NORTH, lambda X: GRID.cells(NORTH, X)),
    "fields.walks.Grid.corners(cells)": (PLACES, GRID.corners),
    "fields.walks.Grid.geojson(cells)": (PLACES, lambda X: len(GRID.geojson(X, WALK[:8]))),
    "fields.walks.Grid.geojson(labels)": (PLACES, lambda X: len(GRID.geojson(WALK[:8], X))),
    "diagnostics.lumpability(counts)": (
        HOLED_GRAPH,
        lambda X: diagnostics.lumpability(X, np.arange(6) % 2),
    ),
    "diagnostics.mcmc_diagnostics(values)": (
        WEIGHTS + np.arange(14),
        lambda X: diagnostics.mcmc_diagnostics(X).autocorrelation_time,
    ),
}
