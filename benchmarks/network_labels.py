"""Networks of known classes: how often new networks get their class from few or many patches.

``python benchmarks/network_labels.py`` writes ``results/labels-networks.json``. Tasks:

- *rings and hubs*: small worlds (100 nodes, 8 neighbours, .3 rewired) and preferential attachment.
- *same degrees*: preferential attachment, and graphs of near points with the degrees of such ones.
- *friends, swapped*: walks of 100 nodes among friends at Caltech, and such walks with three tenths
  of the edges swapped, degrees kept.
- *three networks*: walks of 60 nodes among friends at Caltech, friends of ten people, co-authors.

Each seed draws 20 networks of each class to learn from and 40 others; those of the real networks
come from halves that share no node. Every method has 100,000 patches of path:8. Rivals are logistic
regressions on the entries of a patch, its degrees sorted, their squares and its number of
triangles, with patches that vote, or on the means of these over a network. Strengths, and how
patches vote, are chosen on the first seed; the others count.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import time
import warnings
from functools import cache

import networkx as nx
import numpy as np
from benchmark_records import DATA, save
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from atomstream import SupervisedNetworkDictionary
from atomstream.domains.networks import Motif, Network
from atomstream.samplers import MotifPivot

TUNED, SEEDS = 0, (1, 2, 3)
MOTIF, COPIES, BATCHES, SIZE = "path:8", (30, 100, 1000), 400, 250
WEIGHTS, ATOMS = (0.0, 1.0, 3.0), (6, 20)
STRENGTHS = (0.001, 10.0)
NAMES = ("unexplained", "seconds")
REAL = {
    "Caltech": "facebook100_caltech36.txt.gz",
    "friends": "snap_ego_facebook.txt.gz",
    "co-authors": "snap_arxiv_astro.txt.gz",
}


def largest(graph):
    """Return the largest component of a graph, its nodes numbered."""
    part = graph.subgraph(max(nx.connected_components(graph), key=len))
    return nx.convert_node_labels_to_integers(part)


@cache
def halves(name):
    """Return two graphs of one real network that share no node."""
    graph = nx.Graph(Network.of(DATA / "networks" / REAL[name]).to_networkx())
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    nodes = np.random.default_rng(0).permutation(len(graph))
    names = sorted(graph)
    return [largest(graph.subgraph([names[i] for i in nodes[half::2]])) for half in (0, 1)]


def walked(graph, n_nodes, rng):
    """Return the graph between the nodes of a random walk."""
    node = int(rng.integers(len(graph)))
    seen = {node}
    for _ in range(100 * n_nodes):
        near = list(graph[node])
        node = near[rng.integers(len(near))]
        seen.add(node)
        if len(seen) == n_nodes:
            break
    return largest(graph.subgraph(seen))


def near_points(degrees, rng):
    """Return a graph of points on a torus with these degrees, or nearly; near ones are joined."""
    places = rng.random((len(degrees), 2))
    gaps = np.abs(places[:, None] - places[None])
    squares = (np.minimum(gaps, 1 - gaps) ** 2).sum(axis=2)
    tails, heads = np.triu_indices(len(degrees), 1)
    reach = squares[tails, heads] / np.sqrt(degrees[tails] * degrees[heads])
    left, graph = degrees.copy(), nx.empty_graph(len(degrees))
    for pair in np.argsort(reach):
        tail, head = int(tails[pair]), int(heads[pair])
        if left[tail] and left[head]:
            graph.add_edge(tail, head)
            left[[tail, head]] -= 1
    return largest(graph)


def drawn(task, half, rng):
    """Return one graph of each class."""
    seeds = rng.integers(2**31, size=2).tolist()
    if task == "rings and hubs":
        rings = nx.connected_watts_strogatz_graph(100, 8, 0.3, seed=seeds[0])
        return {"rings": rings, "hubs": nx.barabasi_albert_graph(100, 4, seed=seeds[1])}
    if task == "same degrees":
        one, other = (nx.barabasi_albert_graph(100, 4, seed=seed) for seed in seeds)
        degrees = np.array([degree for _, degree in other.degree()])
        return {"preferential": one, "near": near_points(degrees, rng)}
    if task == "three networks":
        return {name: walked(halves(name)[half], 60, rng) for name in REAL}
    one, other = (walked(halves("Caltech")[half], 100, rng) for _ in range(2))
    n_swaps = int(0.3 * other.size())
    nx.double_edge_swap(other, n_swaps, max_tries=10**6, seed=seeds[0])
    return {"friends": one, "swapped": largest(other)}


TASKS = ("rings and hubs", "same degrees", "friends, swapped", "three networks")


def division(task, seed, half, n):
    """Return networks of one half and their classes."""
    rng = np.random.default_rng([TASKS.index(task), seed, half])
    pairs = [item for _ in range(n) for item in drawn(task, half, rng).items()]
    return [Network.of(graph) for _, graph in pairs], np.array([name for name, _ in pairs])


def patches(network, n, seed):
    """Return patches along a chain."""
    chain, rng = MotifPivot(network, Motif.of(MOTIF)), np.random.default_rng(seed)
    return chain.patches(chain.run(rng, chain.init(rng), n)[0])


def counts(found):
    """Return entries, sorted degrees, their squares and triangles of patches."""
    size = int(found.shape[1] ** 0.5)
    square = found.reshape(-1, size, size)
    degrees = np.sort(square.sum(axis=1), axis=1)
    triangles = np.einsum("nij,njk,nki->n", square, square, square, optimize=True) / 6
    entries = square[:, *np.triu_indices(size, 1)]
    return np.column_stack([entries, degrees, degrees**2, triangles, triangles == 0])


def rivals(learned, y, new, truth):
    """Return the share of new networks whose class each rival predicts, by numbers of copies."""
    known = [
        counts(patches(one, BATCHES * SIZE // len(learned), [1, i]))
        for i, one in enumerate(learned)
    ]
    asked = [counts(patches(one, max(COPIES), [2, i])) for i, one in enumerate(new)]
    found = {}
    for strength in STRENGTHS:
        model = make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=1000))
        model.fit(np.concatenate(known), np.repeat(y, [len(rows) for rows in known]))
        shares = [model.predict_proba(rows) for rows in asked]
        for vote, form in {"shares": lambda p: p, "logarithms": np.log}.items():
            means = {n: np.array([form(p[:n]).mean(axis=0) for p in shares]) for n in COPIES}
            found["counts of patches, which vote", vote, strength] = [
                float(np.mean(model.classes_[means[n].argmax(axis=1)] == truth)) for n in COPIES
            ]
    model = make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=8, max_iter=3000))
    model.fit([rows.mean(axis=0) for rows in known], y)
    found["means of counts", "", 0] = [
        float(np.mean(model.predict([rows[:n].mean(axis=0) for rows in asked]) == truth))
        for n in COPIES
    ]
    return found


def ours(learned, y, new, truth, seed):
    """Return the same of ours, the share of patches left unexplained, seconds of the processor."""
    found, asked = {}, np.concatenate([patches(one, 100, [2, i]) for i, one in enumerate(new)])
    for n_atoms in ATOMS:
        for weight in WEIGHTS:
            begun = time.process_time()
            known = {"weight": weight, "n_batches": BATCHES, "batch_size": SIZE}
            model = SupervisedNetworkDictionary(MOTIF, n_atoms, **known, random_state=seed)
            model.fit(learned, y)
            spent = time.process_time() - begun
            right = [model.score(new, truth, n_steps=n) for n in COPIES]
            left = 2 * float(model.learner_.losses(asked).sum() / (asked**2).sum())
            found[n_atoms, weight] = {"right": right, "unexplained": left, "seconds": spent}
    return found


def judged(task):
    """Return the figures of a task: means over the seeds that nothing was chosen on."""
    theirs, own = {}, {}
    for seed in (TUNED, *SEEDS):
        data = *division(task, seed, 0, 20), *division(task, seed, 1, 40)
        theirs[seed], own[seed] = rivals(*data), ours(*data, seed)
    found = {}
    for name in dict.fromkeys(key[0] for key in theirs[TUNED]):
        keys = [key for key in theirs[TUNED] if key[0] == name]
        best = max(keys, key=lambda key: sum(theirs[TUNED][key]))
        right = np.array([theirs[seed][best] for seed in SEEDS])
        found[f"logistic regression, {name}"] = {
            "right": right.mean(axis=0).tolist(),
            "by_seed": right[:, -1].tolist(),
        }
    for key in own[TUNED]:
        rows = [own[seed][key] for seed in SEEDS]
        found[f"{key[0]} atoms, weight {key[1]}"] = {
            "right": np.mean([row["right"] for row in rows], axis=0).tolist(),
            **{name: float(np.mean([row[name] for row in rows])) for name in NAMES},
            "by_seed": [row["right"][-1] for row in rows],
        }
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    save("labels-networks", {"copies": COPIES, "tasks": {task: judged(task) for task in TASKS}})
