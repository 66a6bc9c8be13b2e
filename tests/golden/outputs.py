"""What golden models of rows give for their inputs."""

import numpy as np


def rows(model, X):
    yield "components", model.components_
    yield "importance", model.importance_
    yield "n_steps", model.n_steps_
    yield "n_samples", model.n_samples_seen_
    yield "transform", model.transform(X[:20])
    yield "objective", model.objective(X)
    yield "surrogate", model.surrogate()
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
