"""A golden model of networks: how it was learned, and what it gives."""

from pathlib import Path

import numpy as np

from atomstream import NetworkDictionary

HERE = Path(__file__).parents[1] / "golden"


def learned(graph):
    return NetworkDictionary(
        n_components=3, motif="path:4", n_batches=20, batch_size=60, random_state=0
    ).fit(graph)


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


CASES = {"NetworkDictionary": (HERE, learned, network)}
assert len(CASES) == 1
