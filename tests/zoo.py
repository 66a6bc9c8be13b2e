"""One small model of every kind of estimator, and data of its own that it learns from."""

import pickle

import networkx as nx
import numpy as np

from atomstream import (
    BatchNMF,
    ColorRestorer,
    ConsensusNMF,
    ImageDictionary,
    NetworkDictionary,
    OnlineConvexMF,
    OnlineCPDictionary,
    OnlineDictionaryLearning,
    OnlineNMF,
    RandomWalkFactorization,
    SeriesDictionary,
    TopicModel,
    VideoDictionary,
)

DOCUMENTS = ["the cat chased a mouse", "a cat and a mouse", "stocks fell", "bonds and stocks fell"]


def rows():
    rng = np.random.default_rng(0)
    return rng.random((60, 3)) @ rng.random((3, 8))


def walk():
    return np.random.default_rng(0).integers(6, size=400)


def materials():
    rng = np.random.default_rng(0)
    grass = rng.uniform(0.4, 0.5, (20, 20, 1)) * [0.4, 1.0, 0.2]
    return {"grass": grass, "sky": rng.uniform(0.85, 0.9, (20, 20, 1)) * [0.6, 0.8, 1.0]}


# Each estimator with its data, and what it does with data once it has learned.
ZOO = {
    "nmf": (OnlineNMF(3, random_state=0), rows, "transform"),
    "dictionary learning": (OnlineDictionaryLearning(3, random_state=0), rows, "transform"),
    "consensus": (
        ConsensusNMF([2], n_replicates=3, n_epochs=1, random_state=0),
        rows,
        "transform",
    ),
    "data sets": (BatchNMF(2, 1, n_epochs=2, random_state=0), rows, "transform"),
    "convex": (OnlineConvexMF(2, n_representatives=6, random_state=0), rows, "transform"),
    "tensors": (
        OnlineCPDictionary(2, n_epochs=2, random_state=0),
        lambda: rows().reshape(60, 2, 4),
        "transform",
    ),
    "networks": (
        NetworkDictionary("path:3", 1, n_batches=2, batch_size=20, random_state=0),
        nx.karate_club_graph,
        lambda model, graph: model.reconstruct(graph, n_steps=100).matrix.toarray(),
    ),
    "images": (
        ImageDictionary(4, 4, n_patches=60, random_state=0),
        lambda: rows()[:16],
        "reconstruct",
    ),
    "colours": (
        ColorRestorer(2, 4, n_patches=60, random_state=0),
        materials,
        lambda model, examples: model.restore(examples["sky"][:, :, 0])[0],
    ),
    "series": (
        SeriesDictionary(2, 3, n_init=12, n_init_batches=2, random_state=0),
        rows,
        lambda model, table: model.reconstruct(table),
    ),
    "topics": (
        TopicModel(2, vectorizer="counts", n_epochs=2, random_state=0),
        lambda: DOCUMENTS * 5,
        "transform",
    ),
    "frames": (
        VideoDictionary(2, random_state=0),
        lambda: rows().reshape(30, 4, 4),
        "transform",
    ),
    "walks": (
        RandomWalkFactorization(2, random_state=0),
        walk,
        lambda model, states: model.embedding_,
    ),
}


def use(name, model, data):
    """Return what a fitted model makes of data, as an array."""
    way = ZOO[name][2]
    return np.asarray(getattr(model, way)(data) if isinstance(way, str) else way(model, data))


def used_elsewhere(pickles):
    """Return what pickled models make of the data of the zoo; called in other processes."""
    return {name: use(name, pickle.loads(model), ZOO[name][1]()) for name, model in pickles.items()}
