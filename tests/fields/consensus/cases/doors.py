"""Calls of what takes the rows of a consensus."""

from doors_of_models import doors_of_model
from given import TABLE

from atomstream import choose_rank

CASES = {
    **doors_of_model("ConsensusNMF", {"n_components": [2], "n_replicates": 2}),
    "choose_rank(X)": (
        TABLE,
        lambda X: choose_rank(X, [1, 2], n_seeds=2, random_state=0).errors,
    ),
}
assert len(CASES) == 10
