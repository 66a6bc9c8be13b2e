"""
Networks of two kinds
=====================

Every node has as many neighbours in one kind of network as in the other, and only who knows whom
differs. Which kind is a new network? Atoms of patches show it, and sooner where the kinds have a
say in what the atoms become.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from atomstream import SupervisedNetworkDictionary


def near(seed, swapped=0.0):
    """Return points that know those near to them, with a share of the edges swapped."""
    graph = nx.random_geometric_graph(80, 0.22, seed=seed)
    nx.double_edge_swap(graph, int(swapped * graph.size()), max_tries=100_000, seed=seed)
    return graph.subgraph(max(nx.connected_components(graph), key=len)).copy()


networks = [near(seed, 0.1 * (seed % 2)) for seed in range(60)]
kinds = np.array(["near", "swapped"])[np.arange(60) % 2]

# %%
# Patches along the chains of all networks are mixed in every batch, and each has the kind of its
# network. With a weight of 0 the kinds teach the coefficients alone, not the atoms.

models = {
    weight: SupervisedNetworkDictionary(
        "path:8", n_components=4, weight=weight, n_batches=300, random_state=0
    ).fit(networks[:20], kinds[:20])
    for weight in (0.0, 1.0)
}

# %%
# New networks are judged by their patches: few of them, then more.

for weight, model in models.items():
    shares = [model.score(networks[20:], kinds[20:], n_steps=n) for n in (30, 100, 1000)]
    print(f"weight {weight}: " + ", ".join(f"{share:.0%}" for share in shares))

# %%
# Atoms from those that speak for near nodes to those that speak for swapped edges
# (:attr:`atomstream.SupervisedNetworkDictionary.coef_`).

figure, axes = plt.subplots(2, 4, figsize=(8, 4.4), layout="constrained")
for line, (weight, model) in zip(axes, models.items(), strict=True):
    lengths = np.linalg.norm(model.components_, axis=(1, 2))
    scores = model.coef_[0] / lengths
    for axis, atom in zip(line, scores.argsort(), strict=True):
        axis.imshow(model.components_[atom], cmap="Greys")
        axis.set(xticks=[], yticks=[], title=f"{scores[atom]:+.2f}")
    line[0].set_ylabel(f"weight {weight}")

plt.show()
