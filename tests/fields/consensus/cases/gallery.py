"""Every plot of a consensus."""

import functools

from cases import rows
from drawn import of

from atomstream import ConsensusNMF, plots


@functools.cache
def ranks():
    return ConsensusNMF([2, 3], n_replicates=3, n_epochs=1, random_state=0).fit(rows())


CASES = {
    "clustergram": lambda: plots.clustergram(of("consensus")),
    "intervals": lambda: plots.intervals(of("consensus")),
    "rank": lambda: plots.rank(of("consensus").choice_),
    "rank_tree": lambda: plots.rank_tree(ranks()),
}
