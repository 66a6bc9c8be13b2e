"""Experiments 000-5 and 000-6: the torus, of which everything is known, and two moves on a grid.

Lyu, Needell and Balzano (2020), Example 7.1 and Fig. 8: on the n x n torus all copies of the wedge
have one patch, so the matrix of patches has rank one: one of nine atoms takes all the importance,
and the reconstruction is perfect. There are 16 n^2 copies, not 9 n^2 (ordered pairs out of 4
neighbours). `NetworkDictionary` starts from patches and has nothing to search; so the search that
the paper shows is made by `OnlineNMF` from random atoms, on patches along the pivot chain, without
a penalty of the codes and with one. Fig. 9: on the 8 x 8 grid the Glauber chain makes its two moves
with probabilities 1/3 * 1/2 and 1/3 * 1/4.

Leaves ``results/000-5.png`` and ``results/000-5.json``.
"""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import networkx as nx
import numpy as np
from pictures import save_rows
from records import save

from atomstream import NetworkDictionary, OnlineNMF, plots
from atomstream.fields.networks import motifs
from atomstream.fields.networks.network import Network
from atomstream.samplers import MotifGlauber, MotifPivot, homomorphisms

N, N_ATOMS, N_BATCHES, BATCH = 10, 9, 50, 100
ALPHAS = (0.0, 0.1)


def moves() -> dict[str, float]:
    """Return the probabilities of the two moves of Fig. 9; nodes of the grid are (row, column)."""
    grid = Network.of(nx.grid_2d_graph(8, 8))
    place = {label: number for number, label in enumerate(grid.labels)}
    chain = MotifGlauber(grid, motifs.wedge(1))
    # Centre (3, 3) with leaves (2, 3) and (3, 2): their other common neighbour is (2, 2), at the
    # top left.
    copy = np.array([place[3, 3], place[2, 3], place[3, 2]])
    nodes, chances = chain.conditional(copy, 0)
    first = float(chances[nodes == place[2, 2]][0]) / 3
    copy[0] = place[2, 2]
    nodes, chances = chain.conditional(copy, 2)
    return {"first move": first, "second move": float(chances[nodes == place[1, 2]][0]) / 3}


def searched(torus: Network, alpha: float) -> tuple[SimpleNamespace, dict[str, float]]:
    """Return atoms learned from a random start as plots want them, and their importances."""
    motif, rng = motifs.wedge(1), np.random.default_rng(0)
    chain = MotifPivot(torus, motif)
    states, _ = chain.run(rng, chain.init(rng), N_BATCHES * BATCH)
    patches = chain.patches(states).reshape(N_BATCHES, BATCH, -1)
    model = OnlineNMF(N_ATOMS, alpha=alpha, init="random", random_state=0)
    used = [model.partial_fit(batch).state_.usage.newest for batch in patches]
    run, late = np.sum(used, axis=0), np.sum(used[N_BATCHES // 2 :], axis=0)
    atoms = SimpleNamespace(
        components_=model.components_.reshape(N_ATOMS, motif.size, motif.size),
        importance_=run / run.sum(),
        motif_=motif,
    )
    importance = {
        "largest importance": (run / run.sum()).max(),
        "largest importance, second half": (late / late.sum()).max(),
    }
    return atoms, importance


def main() -> None:
    """Learn the torus exactly and along both chains, draw, write the numbers."""
    torus = Network.of(nx.grid_2d_graph(N, N, periodic=True))
    report: dict = {
        "copies": len(homomorphisms(torus, "wedge:1")[0]),
        "16 n^2": 16 * N**2,
        **moves(),
    }
    for chain in ("all", "glauber", "pivot"):
        model = NetworkDictionary(
            "wedge:1", N_ATOMS, chain=chain, n_batches=50, random_state=0
        ).fit(torus)
        rebuilt = model.reconstruct(torus, chain=chain, n_steps=50_000)
        report[chain] = {
            "largest importance": float(model.importance_.max()),
            "coverage": rebuilt.coverage,
            "error": rebuilt.error,
        }
    found = {alpha: searched(torus, alpha) for alpha in ALPHAS}
    report["random start"] = {alpha: told for alpha, (_, told) in found.items()}
    atoms = [plots.network_atoms(drawn, n_columns=3) for drawn, _ in found.values()]
    matrices = plots.adjacency(
        rebuilt.network.out, rebuilt.matrix, titles=("torus", "reconstruction")
    )
    for figure, alpha in zip(atoms, ALPHAS, strict=True):
        figure.suptitle(f"random start, penalty {alpha:g}", fontsize=11)
    used = plots.network_atoms(model, n_columns=3)
    used.suptitle("start from patches, pivot chain", fontsize=11)
    save_rows([atoms, [used, matrices]], "000-5", 1000)
    save("000-5", report)


if __name__ == "__main__":
    warnings.filterwarnings(
        "ignore", "The network is bipartite"
    )  # harmless here: all patches are the same
    main()
