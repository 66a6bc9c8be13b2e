"""What golden models give for their inputs."""

import numpy as np


def rows(model, X):
    yield "components", model.components_
    yield "importance", model.importance_
    yield "n_steps", model.n_steps_
    yield "n_samples", model.n_samples_seen_
    yield "transform", model.transform(X[:20])
    yield "objective", model.objective(X)
    yield "surrogate", model.surrogate()
    if hasattr(model, "representatives_"):
        yield "weights", model.weights_
        yield "ids", np.concatenate([each.ids for each in model.representatives_])
    for axis, loading in enumerate(getattr(model, "loadings_", ())):
        yield f"loading{axis}", loading
    model.partial_fit(X[:40])
    yield "after_components", model.components_
    yield "after_transform", model.transform(X[:20])


def data_sets(model, table):
    X, names = table[:, :-1], table[:, -1]
    yield "own", np.stack([*model.own_components_.values()])
    yield "coded", model.transform(X[:20], batch=names[:20])
    yield "components", model.components_
    model.partial_fit(X[:40], batch=names[:40])
    yield "after_components", model.components_


def labels(model, table):
    X, y = table[:, :-1], table[:, -1]
    yield "components", model.components_
    yield "coef", model.coef_
    yield "classes", model.classes_
    yield "chances", model.predict_proba(X[:20])
    yield "score", model.score(X, y)
    yield "label_loss", model.label_loss_
    model.partial_fit(X[:40], y[:40])
    yield "after_components", model.components_
    yield "after_chances", model.predict_proba(X[:20])


def network(model, graph):
    yield "components", model.components_
    yield "importance", model.importance_
    yield "position", model.position_
    yield "n_steps", model.n_steps_
    chain = model.chain  # the default of before
    yield "rebuilt", model.reconstruct(graph, n_steps=300, chain=chain).matrix.toarray()
    ranking = model.denoise(graph, n_steps=300, chain=chain)
    yield "scores", np.sort(np.nan_to_num(ranking.scores))
    yield "after_components", model.partial_fit(graph).components_


def walk(model, states):
    names = "left right singular_values embedding stationary".split()  # noqa: SIM905 - readable
    for name in names:
        yield name, getattr(model, f"{name}_")
    yield "n_steps", model.n_steps_
    yield "partition", model.partition(2)
    yield "after_right", model.partial_fit(states).right_


def series(model, table):
    band = model.predict_interval(3, 0.8)
    yield "atoms", model.atoms_
    yield "initial_atoms", model.initial_atoms_
    yield "one_step", model.one_step_
    yield "predict", model.predict(5)
    yield "low", band.low
    yield "high", band.high
    yield "reconstruct", model.reconstruct(table)
    model.partial_fit(table[:10])
    yield "after_atoms", model.atoms_
    yield "after_predict", model.predict(3)


def image(model, grey):
    yield "components", model.components_
    yield "reconstruct", model.reconstruct(grey)
    yield "denoise", model.denoise(grey, 0.05, adapt=False)
    yield "after_components", model.partial_fit(grey).components_


def topics(model, documents):
    documents = documents.tolist()
    yield "components", model.components_
    yield "transform", model.transform(documents)
    yield "shares", model.topic_shares(documents)
    yield "words", np.array(repr(model.top_words(3)))
    yield "after_components", model.partial_fit(documents[:20]).components_


def video(model, frames):
    yield "components", model.components_
    yield "snapshots", model.snapshots_
    yield "times", model.snapshot_times_
    yield "transform", model.transform(frames)
    yield "reconstruct", model.reconstruct(frames)
    yield "after_components", model.partial_fit(frames).components_


def color(model, grey):
    restored, classes = model.restore(grey)
    yield "image", restored
    yield "classes", classes
    for name, dictionary in model.dictionaries_.items():
        yield f"atoms_{name}", dictionary.components_


# What the last column of the input is, beside the others.
NAMED = {"BatchNMF": "batch", "SupervisedDictionary": "y"}
OUTPUTS = {
    "BatchNMF": data_sets,
    "ColorRestorer": color,
    "ImageDictionary": image,
    "NetworkDictionary": network,
    "RandomWalkFactorization": walk,
    "SeriesDictionary": series,
    "SupervisedDictionary": labels,
    "TopicModel": topics,
    "VideoDictionary": video,
}


def outputs(name, model, given):
    """Return arrays by their names; keys that begin with ``after_`` once it has learned more."""
    return dict(OUTPUTS.get(name, rows)(model, given))
