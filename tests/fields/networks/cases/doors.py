"""Calls of what takes networks, motifs, pairs of nodes and positions of chains."""

import numpy as np
from given import GRAPH, HOLED_GRAPH, MOTIF, NODES, PAIRS, RNG, holes

from atomstream import NetworkDictionary, networks, samplers, symmetric_nmf
from atomstream.looks import plots

RING = np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1)
SPLIT = networks.links.hide(RING, 0.34, random_state=0)
NET = networks.Network.of(GRAPH)
STEPS = 20


def of_networks(motif="path:2", **settings):
    settings |= {"n_batches": 1, "batch_size": 5, "random_state": 0}
    return NetworkDictionary(motif, 1, **settings)


CASES = {
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
        lambda X: symmetric_nmf(X, 2, random_state=0).values,
    ),
    "looks.plots.adjacency_data(before)": (HOLED_GRAPH, lambda X: plots.adjacency_data(X)),
    "looks.plots.adjacency_data(after)": (HOLED_GRAPH, lambda X: plots.adjacency_data(GRAPH, X)),
}
assert len(CASES) == 44
