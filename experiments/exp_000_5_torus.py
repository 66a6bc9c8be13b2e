"""Experiments 000-5 and 000-6: the torus, of which everything is known, and two moves on a grid.

Lyu, Needell and Balzano (2020), Example 7.1 and Fig. 8: on the n x n torus all copies of the wedge
have one patch, so the matrix of patches has rank one: one of nine atoms takes all the importance,
and the reconstruction is perfect. There are 16 n^2 copies, not 9 n^2 (ordered pairs out of 4
neighbours). From a random start, as in the paper, some of the importance goes to other atoms at
first; ours starts from patches and has nothing to search. Fig. 9: on the 8 x 8 grid the Glauber
chain makes its two moves with probabilities 1/3 * 1/2 and 1/3 * 1/4.

Leaves ``results/000-5.png`` and ``results/000-5.json``.
"""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
from pictures import save_figure
from records import save

from atomstream import NetworkDictionary, plots
from atomstream.domains.networks import motifs
from atomstream.domains.networks.network import Network
from atomstream.samplers import MotifGlauber, homomorphisms

N, N_ATOMS = 10, 9


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


def main() -> None:
    """Learn the torus exactly and along both chains, draw, write the numbers."""
    torus = nx.grid_2d_graph(N, N, periodic=True)
    report: dict = {
        "copies": len(homomorphisms(torus, "wedge:1")[0]),
        "16 n^2": 16 * N**2,
        **moves(),
    }
    for chain in ("all", "glauber", "pivot"):
        model = NetworkDictionary(
            "wedge:1", N_ATOMS, chain=chain, n_batches=50, random_state=0
        ).fit(torus)
        rebuilt = model.reconstruct(torus, n_steps=50_000)
        report[chain] = {
            "largest importance": float(model.importance_.max()),
            "largest importance, second half": float(model.recent_importance_.max()),
            "coverage": rebuilt.coverage,
            "error": rebuilt.error,
        }
    save_figure(plots.adjacency(rebuilt.network.out, rebuilt.matrix), "000-5", 80)
    save("000-5", report)


if __name__ == "__main__":
    warnings.filterwarnings(
        "ignore", "The network is bipartite"
    )  # harmless here: all patches are the same
    main()
