"""Sentences that judge a reconstructed network."""

MAX_ERROR = 0.9  # of the norm of a network: a network without edges is off by all of it


def far_from_network(error: float, unvisited: float) -> str | None:
    """Return a sentence on a reconstruction that says little of its network; None for others.

    Parameters
    ----------
    error : float
        The norm of the network minus the reconstruction, over that of the network.
    unvisited : float
        The same on the edges that no copy visited.
    """
    if error <= MAX_ERROR:
        return None
    # More steps remove this part of the squared error.
    if unvisited**2 > error**2 / 2:
        remedy = f"{unvisited:.2f} is on edges that no copy visited, so take more steps"
    else:
        remedy = (
            "learn along chain='approximate_pivot', with a shorter motif or more atoms, and take "
            "logarithms of weights that differ much"
        )
    return (
        f"The reconstruction is off by {error:.2f} of the norm of the network, where a network "
        f"without edges is off by 1; {remedy}."
    )
