"""Experiment 000-11, motifs: how long a motif must be, how chains move, and what scores are worth.

Motifs: 25 atoms are learned from 100,000 copies of paths of 5, 9, 15 and 21 nodes along the pivot
chain. Told are the pairs of nodes that a path leaves free, how many of them an atom shows (the
median over the atoms of the squared sum of its entries on free pairs over the sum of their
squares), and the processor time on Caltech. Chains: edges of ego-Facebook that 100,000 copies of a
path of 21 nodes visit.

Scores: for hidden edges of Caltech with 20,000 copies (three seeds), means beside shrunken scores;
and the area for planted edges where entries on edges of the motif count, and where they do not.

Links: a fifth of the edges of four small networks is hidden. A dictionary of 9 atoms on paths of 9
nodes scores the pairs (means of `NetworkDictionary.denoise`, 20,000 copies, 0 for pairs that no
copy met), beside the scores of neighbours on the same splits; area under the ROC curve, five seeds.
And six planted partitions of two blocks of 40 nodes with 30 % of planted edges, for which scores
are fitted. Leaves ``results/000-11-motifs.png`` and ``results/000-11-motifs.json``.
"""

from __future__ import annotations

import warnings
from time import process_time

import networkx as nx
import numpy as np
from exp_000_11_links import MOTIF, N_ATOMS, STEPS, largest
from matplotlib.figure import Figure
from pictures import save_figure
from records import save

from atomstream import NetworkDictionary
from atomstream.fields.networks import links
from atomstream.fields.networks.network import Network

LENGTHS, N_SEEDS, FEW = (5, 9, 15, 21), 5, 20_000
SMALL = {
    "Zachary's karate club": nx.karate_club_graph,
    "Les Miserables": nx.les_miserables_graph,
    "small world (Watts, Strogatz)": lambda: nx.watts_strogatz_graph(200, 6, 0.1, seed=0),
    "power law with clusters (Holme, Kim)": lambda: nx.powerlaw_cluster_graph(300, 4, 0.5, seed=0),
}
SCORES = ("Jaccard", "Adamic-Adar", "preferential attachment")


def pairs_shown(atoms: np.ndarray) -> float:
    """Return the median number of free pairs that an atom shows."""
    rows, columns = np.triu_indices(atoms.shape[1], 2)  # neighbours on the path are its edges
    free = atoms[:, rows, columns]
    squares = (free**2).sum(axis=1)
    used = squares > 0
    return float(np.median(free[used].sum(axis=1) ** 2 / squares[used]))


def shown_by(network: Network, length: int) -> tuple[float, float]:
    """Return pairs shown by an atom of a path, and seconds of processor time to learn."""
    begin = process_time()
    model = NetworkDictionary(f"path:{length}", N_ATOMS, random_state=0).fit(network)
    return pairs_shown(model.components_), process_time() - begin


def top_share(split: links.Split, scores: np.ndarray) -> float:
    """Return the share of true edges among the 1 % of pairs with the highest scores."""
    first = np.argsort(-scores, kind="stable")[: len(scores) // 100]
    return float(split.truth[first].mean())


def few_copies(network: Network) -> dict[str, float]:
    """Return area and top of means and of shrunken scores, 20,000 copies along the pivot chain."""
    found: dict[str, list[float]] = {}
    for seed in range(3):
        split = links.hide(network, 0.5, random_state=seed)
        model = NetworkDictionary(MOTIF, N_ATOMS, random_state=0).fit(split.network)
        ranking = model.denoise(split.network, split.pairs, chain="pivot", n_steps=FEW)
        means = ranking.reconstruction.weights(split.pairs)
        for kind, values in (("means", means), ("scores", ranking.scores)):
            tied = np.where(ranking.visits > 0, values, ranking.shrinkage.base)
            found.setdefault(f"area of {kind}", []).append(split.auc(tied))
            found.setdefault(f"top of {kind}", []).append(top_share(split, tied))
    return {name: float(np.mean(values)) for name, values in found.items()}


def entries_on_the_motif(network: Network) -> dict[str, float]:
    """Return the area for planted edges with the entries on edges of the motif, and without."""
    split = links.plant(network, 0.5, random_state=0)
    how = {"chain": "approximate_pivot", "random_state": 0}
    model = NetworkDictionary(MOTIF, N_ATOMS, **how).fit(split.network)
    all_entries = model.reconstruct(split.network, n_steps=STEPS).weights(split.pairs)
    ranking = model.denoise(split.network, split.pairs, n_steps=STEPS)
    left_out = ranking.reconstruction.weights(split.pairs)
    return {"counted": split.auc(all_entries), "left out": split.auc(left_out)}


def areas(network: Network) -> dict[str, float]:
    """Return the mean areas under the ROC curves of hidden edges."""
    found: dict[str, list[float]] = {}
    for seed in range(N_SEEDS):
        split = links.hide(network, 0.2, random_state=seed)
        model = NetworkDictionary("path:9", 9, random_state=seed).fit(split.network)
        ranking = model.denoise(split.network, split.pairs, n_steps=FEW)
        scores = links.neighbour_scores(split.network, split.pairs)
        means = ranking.reconstruction.weights(split.pairs)  # 0 for pairs that no copy met
        for name, values in {"dictionary": means, **scores}.items():
            found.setdefault(name, []).append(split.auc(values))
    return {name: float(np.mean(found[name])) for name in ("dictionary", *SCORES)}


def fitted() -> dict[str, list[float]]:
    """Return areas of fitted scores, and of Jaccard's, on six planted partitions."""
    found: dict[str, list[float]] = {"fitted": [], "Jaccard": []}
    for seed in range(6):
        graph = nx.planted_partition_graph(2, 40, 0.5, 0.03, seed=seed)
        split = links.plant(graph, 0.3, random_state=seed)
        model = NetworkDictionary("path:9", 9, n_batches=30, random_state=0).fit(split.network)
        how = {"scores": "fitted", "n_steps": FEW}
        found["fitted"].append(split.auc(model.denoise(split.network, split.pairs, **how).scores))
        scores = links.neighbour_scores(split.network, split.pairs)
        found["Jaccard"].append(split.auc(scores["Jaccard"]))
    return found


def draw(numbers: dict, names: list[str]) -> Figure:
    """Draw what atoms show by the length of a path, and areas on small networks."""
    figure = Figure(figsize=(12, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.6))
    for name in names:
        shown = [numbers["motifs"][f"path:{length}"]["shown"][name] for length in LENGTHS]
        left.semilogy(LENGTHS, shown, "o-", label=name)
    left.set(xlabel="nodes of the path", xticks=LENGTHS, title="free pairs that an atom shows")
    left.legend(frameon=False)
    for place, name in enumerate(("dictionary", *SCORES)):
        heights = [numbers["links"][network]["areas"][name] for network in SMALL]
        right.bar(np.arange(len(SMALL)) + 0.2 * (place - 1.5), heights, 0.18, label=name)
    ticks = [name.replace(" (", "\n(").replace("Zachary's ", "Zachary's\n") for name in SMALL]
    right.set_xticks(range(len(SMALL)), ticks, fontsize=9)
    right.set(ylim=(0, 1), title="hidden edges: area under the ROC curve")
    right.axhline(0.5, color="0.6", linewidth=0.8)
    right.legend(frameon=False, ncols=4, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    return figure


def main() -> None:
    """Learn, score, draw, write the numbers."""
    known = {name: largest(name) for name in ("Caltech", "ego-Facebook")}
    known["Les Miserables"] = Network.of(nx.les_miserables_graph())
    shown_by(known["Caltech"], 5)  # loads what would count as time
    numbers: dict = {"motifs": {}, "links": {}, "coverage": {}, "seeds": N_SEEDS}
    for length in LENGTHS:
        row = {name: shown_by(network, length) for name, network in known.items()}
        numbers["motifs"][f"path:{length}"] = {
            "free pairs": length * (length - 1) // 2 - (length - 1),
            "shown": {name: shown for name, (shown, _) in row.items()},
            "seconds": row["Caltech"][1],
        }
        print(length, row, flush=True)
    for chain in ("glauber", "pivot"):
        model = NetworkDictionary(MOTIF, N_ATOMS, chain=chain, n_batches=10, random_state=0)
        rebuilt = model.fit(known["ego-Facebook"]).reconstruct(known["ego-Facebook"], chain=chain)
        numbers["coverage"][chain] = rebuilt.coverage
    for name, make in SMALL.items():
        network = Network.of(make())
        numbers["links"][name] = {"edges": int(network.out.nnz // 2), "areas": areas(network)}
        print(name, numbers["links"][name], flush=True)
    for name, measure in (
        ("20,000 copies", few_copies),
        ("entries on the motif", entries_on_the_motif),
    ):
        numbers[name] = measure(known["Caltech"])
        print(name, numbers[name], flush=True)
    numbers["fitted"] = fitted()
    print(numbers["fitted"], flush=True)
    save_figure(draw(numbers, list(known)), "000-11-motifs", 85)
    save("000-11-motifs", numbers)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")  # of small motifs, and of networks in parts
    main()
