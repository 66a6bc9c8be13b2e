"""A model of consensus whose parts are chosen, and its data."""

from functools import partial

from given import POSITIVE

from atomstream import ConsensusNMF

CASES = {ConsensusNMF: (partial(ConsensusNMF, [3], n_replicates=2, n_epochs=1), POSITIVE)}
