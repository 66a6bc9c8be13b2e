"""Hidden and planted edges: the fitted score of a network dictionary against simple scores.

``judged/links.py [NETWORK ...]`` writes ``results/links-<name>.json``, for each of ten
networks: the three of the shared data, karate, Les Miserables, and five made ones. A third of the
edges are hidden, or a tenth planted; non-edges are drawn uniformly and matched by degree; five
splits of each. Rivals: Adamic-Adar, Jaccard, resource allocation, preferential attachment, and SVDs
of ranks 8 and 25. The share of uniform edges among planted ones (`link_fit.UNIFORM_SHARE`) was
chosen on the networks of `TUNED`; the others were only judged. Area under the ROC curve.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import networkx as nx
import numpy as np
from benchmark_records import DATA, save

from atomstream import NetworkDictionary
from atomstream.fields.networks import Network, links

SPLITS = 5
TASKS = {"hidden": (links.hide, 1 / 3), "planted": (links.plant, 0.1)}
TUNED = ("karate", "les-miserables", "power-law", "preferential-attachment", "caltech")
MOTIF, N_ATOMS = "path:21", 25
N_BATCHES, BATCH = 20, 500
MOST_COPIES, COPIES_PER_NODE = 50_000, 40


def shared(name: str) -> Callable[[], Network]:
    """Return what reads a network of the shared data."""
    return lambda: Network.of(DATA / f"networks/{name}.txt.gz", weight=None)


NETWORKS: dict[str, Callable[[], Any]] = {
    "karate": nx.karate_club_graph,
    "les-miserables": nx.les_miserables_graph,
    "power-law": lambda: nx.powerlaw_cluster_graph(500, 5, 0.5, seed=1),
    "preferential-attachment": lambda: nx.barabasi_albert_graph(500, 5, seed=1),
    "small-world": lambda: nx.watts_strogatz_graph(500, 10, 0.1, seed=1),
    "blocks": lambda: nx.planted_partition_graph(5, 80, 0.15, 0.01, seed=1),
    "directed-blocks": lambda: nx.random_partition_graph(
        [80] * 5, 0.1, 0.01, seed=1, directed=True
    ),
    "caltech": shared("facebook100_caltech36"),
    "ego-facebook": shared("snap_ego_facebook"),
    "co-authors": shared("snap_arxiv_astro"),
}


def plain(name: str) -> Network:
    """Return the largest component of a network, without loops and weights."""
    network = Network.of(NETWORKS[name]()).largest_component()
    matrix = network.out.copy()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    matrix.data[:] = 1
    return Network.of(matrix, directed=network.directed or None)


def areas(split: links.Split) -> tuple[dict[str, float], float]:
    """Return the area of each score, and what the fit expected of the atoms."""
    network, pairs = split.network, split.pairs
    scores = links.neighbour_scores(network, pairs) | links.svd_scores(network, pairs)
    how: dict[str, Any] = {"n_batches": N_BATCHES, "batch_size": BATCH, "random_state": 0}
    model = NetworkDictionary(MOTIF, N_ATOMS, chain="approximate_pivot", **how).fit(network)
    n_steps = int(np.clip(COPIES_PER_NODE * network.n_nodes, 10_000, MOST_COPIES))
    ranking = model.denoise(network, pairs, scores="fitted", n_steps=n_steps)
    scores["atoms alone"] = ranking.reconstruction.weights(pairs)
    scores["fitted without atoms"] = ranking.fit.without
    scores["fitted"] = ranking.scores
    return {name: split.auc(values) for name, values in scores.items()}, ranking.fit.gain


def judged(network: Network) -> dict[str, Any]:
    """Return the areas of every split of a network."""
    found = {}
    for task, (change, share) in TASKS.items():
        for matched in (False, True):
            begin, rows, gains = time.perf_counter(), [], []
            for seed in range(SPLITS):
                row, gain = areas(change(network, share, matched=matched, random_state=seed))
                rows.append(row)
                gains.append(gain)
            each = {name: [row[name] for row in rows] for name in rows[0]}
            said = each | {"gain foreseen": gains}
            said |= {"seconds of a split": (time.perf_counter() - begin) / SPLITS}
            found[f"{task}, {'matched' if matched else 'uniform'}"] = said
            print(task, matched, {name: round(np.mean(v), 3) for name, v in said.items()})
    return found


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    for name in sys.argv[1:] or NETWORKS:
        network = plain(name)
        about = {"nodes": network.n_nodes, "edges": network.n_edges, "tuned": name in TUNED}
        print(name, about, flush=True)
        save(f"links-{name}", about | {"tasks": judged(network)})
