"""A small model of networks, and a network that it learns from."""

import networkx as nx

from atomstream import NetworkDictionary

CASES = {
    "networks": (
        NetworkDictionary("path:3", 1, n_batches=2, batch_size=20, random_state=0),
        nx.karate_club_graph,
        lambda model, graph: model.reconstruct(graph, n_steps=100).matrix.toarray(),
    ),
}
