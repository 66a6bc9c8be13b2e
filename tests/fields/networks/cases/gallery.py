"""Every plot of networks, drawn of a network or of a model that learned from it."""

import networkx as nx
from drawn import of

from atomstream import plots

GRAPH = nx.to_numpy_array(nx.karate_club_graph())
CASES = {
    "adjacency": lambda: plots.adjacency(GRAPH, GRAPH / 2),
    "network_atoms": lambda: plots.network_atoms(of("networks")),
}
