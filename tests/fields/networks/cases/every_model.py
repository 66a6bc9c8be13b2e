"""A model of networks, saved to a file, for all verbs that look."""

import networkx as nx

from atomstream import NetworkDictionary


def learned(rng):
    model = NetworkDictionary("path:3", 3, n_batches=3, batch_size=40, random_state=0)
    return model.fit(nx.karate_club_graph())


def edges(folder):
    """Write the edges of the network that the model has learned from."""
    nx.write_edgelist(nx.karate_club_graph(), folder / "edges.txt", data=False)


CASES = {
    "NetworkDictionary": {
        "learned": learned,
        "writes": edges,
        "rebuilds": "edges.txt",
        "kind": "csv",
    },
}
