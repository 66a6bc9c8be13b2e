"""
Find hidden edges
=================

Which friendships are missing in your list? Half of the edges of a network are taken away, and every
pair of nodes gets a score from the atoms. A good score is high for the pairs that were friends.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.metrics import roc_curve

from atomstream import NetworkDictionary, networks

graph = nx.planted_partition_graph(4, 50, 0.5, 0.03, seed=0)
split = networks.links.hide(graph, 0.5, random_state=0)
print(split.network.n_edges, "edges are left,", len(split.pairs), "pairs to judge")

# %%
# The model only sees what is left. ``denoise`` returns a :class:`atomstream.networks.Ranking`.

model = NetworkDictionary("path:15", 16, n_batches=60, random_state=0).fit(split.network)
ranking = model.denoise(split.network, split.pairs, n_steps=60_000)
scores = {"atoms": ranking.scores} | networks.links.neighbour_scores(split.network, split.pairs)

# %%
# The curves tell how many of the hidden edges you find for how many false ones; the number is the
# area under the curve.

figure, axis = plt.subplots(figsize=(5.4, 4.6), layout="constrained")
for name, values in scores.items():
    known = np.nan_to_num(values, nan=np.nanmedian(values))
    wrong, right, _ = roc_curve(split.truth, known)
    axis.plot(
        wrong, right, label=f"{name}, {split.auc(values):.2f}", linewidth=3 - 2 * (name != "atoms")
    )
axis.plot([0, 1], [0, 1], color="0.8")
axis.set(xlabel="share of the other pairs", ylabel="share of the hidden edges found")
axis.legend()

plt.show()
