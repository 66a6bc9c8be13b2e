"""
Overlapping communities
=======================

Who belongs to which circle in *Les Misérables*, and who to several? Symmetric factors divide every
edge among a few circles, in proportion to how much both of its ends are in each.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from atomstream import symmetric_nmf

graph = nx.les_miserables_graph()  # characters, and how often two of them are in one scene
found = symmetric_nmf(graph, 5, random_state=0)
found.values.shape

# %%
# A row of the memberships says how a character's scenes are divided. The three with most scenes of
# each circle:

scenes = found.counts  # of nodes and circles, as shares of all
for circle in np.argsort(-scenes.sum(axis=0)):
    first = np.argsort(-scenes[:, circle])[:3]
    print(f"circle {circle}:", ", ".join(found.nodes[node] for node in first))

# %%
# Left: characters in the colour of their largest circle, with a dark ring where it has less than
# three quarters of their scenes. Right: those with many scenes in more than one circle.

shares = found.memberships
of_name = dict(zip(found.nodes, range(len(found.nodes)), strict=True))
order = [of_name[name] for name in graph]
largest, colours = shares[order].max(axis=1), plt.get_cmap("Set2").colors
inner = [colours[circle] for circle in shares[order].argmax(axis=1)]
rings = ["0.2" if share < 0.75 else "none" for share in largest]
sizes = [12 * graph.degree(name) for name in graph]

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 5), layout="constrained", width_ratios=(3, 2)
)
places = nx.spring_layout(graph, seed=4, weight="weight", iterations=300, k=0.35)
nx.draw_networkx_edges(graph, places, ax=left, alpha=0.2)
nx.draw_networkx_nodes(graph, places, ax=left, node_size=sizes, node_color=inner, edgecolors=rings)
left.set_axis_off()

beside = scenes.sum(axis=1) - scenes.max(axis=1)  # outside of the largest circle
mixed = np.argsort(-beside)[:12][::-1]
start = np.zeros(len(mixed))
for circle, colour in enumerate(colours[:5]):
    right.barh(
        [found.nodes[node] for node in mixed], shares[mixed, circle], left=start, color=colour
    )
    start += shares[mixed, circle]
right.set_xlabel("share of the scenes")
right.set_xlim(0, 1)

plt.show()
