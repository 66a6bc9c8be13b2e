"""Files that runs of networks read, and what is read of them."""

import networkx as nx
import scipy.sparse as sp


def write_edges(path, entry, _):
    """Write a network, as its name ends."""
    graph = nx.Graph([(i, (i + 1) % 9, {"weight": 0.5}) for i in range(9)])
    if path.suffix == ".csv":
        lines = ["source,target,b,weight", *(f"{i},{(i + 1) % 9},1,0.5" for i in range(8))]
        path.write_text("\n".join([*lines, f'8,0,1,"{entry}"']) + "\n")
    elif path.suffix == ".npz":
        sp.save_npz(path, nx.to_scipy_sparse_array(graph))
    else:
        getattr(
            nx,
            {".graphml": "write_graphml", ".gexf": "write_gexf", ".net": "write_pajek"}[
                path.suffix
            ],
        )(graph, path)


def network(kind, settings):
    """Return the weights of a network."""
    return kind(settings).network.out.toarray()


ENDINGS = (".csv", ".npz", ".graphml", ".gexf", ".net")
CASES = {"network": (ENDINGS, write_edges, network, lambda path: {})}
