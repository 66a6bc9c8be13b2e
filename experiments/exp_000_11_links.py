"""Networks of the shared data: rebuilt, and hidden or planted edges found among others.

Beyond section 7 of Lyu, Needell and Balzano (2020), as in Lyu, Kureh, Vendrow and Porter (2024): on
three networks (Caltech friendships, ego-Facebook, co-authors in astrophysics) half of the edges are
hidden and to be told from as many non-edges, or half as many edges as there are get planted and are
to be told from the true ones. Scores: what a dictionary of 25 atoms on paths of 21 nodes rebuilds
(`NetworkDictionary.denoise`, exact and approximate pivot chain, 200,000 copies; pairs that no copy
met score 0), and Jaccard, Adamic-Adar and preferential attachment of networkx on the same splits.
Area under the ROC curve, 5 seeds (co-authors: 2).

Leaves ``results/000-11.png`` and ``results/000-11.json``.
"""

from __future__ import annotations

import warnings
from time import perf_counter

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save

from atomstream import NetworkDictionary
from atomstream.domains.networks import links
from atomstream.domains.networks.network import Network

NETWORKS = {
    "Caltech": "facebook100_caltech36",
    "ego-Facebook": "snap_ego_facebook",
    "co-authors": "snap_arxiv_astro",
}
SEEDS = {"Caltech": 5, "ego-Facebook": 5, "co-authors": 2}
MOTIF, N_ATOMS, STEPS = "path:21", 25, 200_000


def largest(name: str) -> Network:
    """Return the largest component of a network, without loops."""
    network = Network.of(DATA / f"networks/{NETWORKS[name]}.txt.gz")
    _, part = sp.csgraph.connected_components(network.out, directed=False)
    keep = np.flatnonzero(part == np.bincount(part).argmax())
    matrix = network.out[keep][:, keep].tolil()
    matrix.setdiag(0)
    return Network.of((matrix.tocsr() > 0).astype(float))


def scores(split: links.Split) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Return scores by method, and of ours coverage and seconds."""
    found, told = links.neighbour_scores(split.network, split.pairs), {}
    for chain in ("pivot", "approximate_pivot"):
        begin = perf_counter()
        model = NetworkDictionary(MOTIF, N_ATOMS, chain=chain, random_state=0).fit(split.network)
        ranking = model.denoise(split.network, split.pairs, n_steps=STEPS)
        found[f"dictionary, {chain}"] = ranking.scores
        told[f"coverage, {chain}"] = ranking.coverage
        told[f"seconds, {chain}"] = perf_counter() - begin
    return found, told


def main() -> None:
    """Rebuild all networks, hide and plant edges, draw ROC curves, write the numbers."""
    report: dict = {}
    figure = Figure(figsize=(4.2 * len(NETWORKS), 8.2), layout="constrained")
    grid = figure.subplots(2, len(NETWORKS))
    for column, name in enumerate(NETWORKS):
        network = largest(name)
        report[name] = {"nodes": network.n_nodes, "edges": network.out.nnz // 2}
        for chain in ("pivot", "approximate_pivot"):
            model = NetworkDictionary(MOTIF, N_ATOMS, chain=chain, random_state=0).fit(network)
            rebuilt = model.reconstruct(network, n_steps=STEPS)
            norm = np.linalg.norm(network.out.data)
            report[name][f"reconstruction, {chain}"] = {
                "coverage": rebuilt.coverage,
                "relative error": rebuilt.error / norm,
                "of it unvisited": rebuilt.unvisited_norm / norm,
            }
        for row, (task, tamper) in enumerate(
            {"hidden": links.hide, "planted": links.plant}.items()
        ):
            aucs: dict[str, list[float]] = {}
            for seed in range(SEEDS[name]):
                split = tamper(network, 0.5, random_state=seed)
                found, told = scores(split)
                for method, values in found.items():
                    aucs.setdefault(method, []).append(split.auc(values))
                    if seed == 0:
                        grid[row, column].plot(
                            *split.roc(values), label=f"{method} {aucs[method][0]:.3f}", lw=1.2
                        )
            grid[row, column].set_title(f"{name}: {task} edges")
            grid[row, column].legend(fontsize=7, loc="lower right", frameon=False)
            report[name][task] = told | {
                method: {"mean": float(np.mean(values)), "sd": float(np.std(values))}
                for method, values in aucs.items()
            }
            print(name, task, report[name][task], flush=True)
    for axes in grid.flat:
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=0.6)
        axes.set(xlabel="false positives", ylabel="true positives")
    save_figure(figure, "000-11", 80)
    save("000-11", report)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "The network has")
    main()
