"""
What a network looks like from the inside
=========================================

A photograph has patches; what has a network? Walk along paths of nodes, and write down who is
joined to whom: that is a patch of 21 x 21. The atoms of such patches show hubs and communities.
"""

import matplotlib.pyplot as plt
import networkx as nx

from atomstream import NetworkDictionary, plots

communities = nx.planted_partition_graph(5, 40, 0.35, 0.01, seed=0)
hubs = nx.barabasi_albert_graph(200, 3, seed=0)

# %%
# The first network consists of five groups that hardly know each other. The shape of the walk is a
# :class:`atomstream.networks.motifs.Motif`, and :class:`atomstream.samplers.MotifPivot` moves it.

model = NetworkDictionary("path:21", n_components=9, n_batches=40, random_state=0).fit(communities)
figure = plots.network_atoms(model, n_atoms=9, n_columns=3)

# %%
# The second one has hubs that know many. Its atoms are crosses: one node joined to all others.

other = NetworkDictionary("path:21", n_components=9, n_batches=40, random_state=0).fit(hubs)

figure, axes = plt.subplots(2, 6, figsize=(8.4, 3.2), layout="constrained")
for line, title, fitted in zip(axes, ("groups", "hubs"), (model, other), strict=True):
    for axis, atom in zip(line, fitted.importance_.argsort()[::-1], strict=False):
        axis.imshow(fitted.components_[atom], cmap="Greys")
        axis.set(xticks=[], yticks=[])
    line[0].set_ylabel(title)

# sphinx_gallery_thumbnail_number = 2
plt.show()
