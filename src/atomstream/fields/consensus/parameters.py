"""The parameters of a consensus: what each is for, and what it may be."""

from atomstream.base.parameters import (
    ARRAYS,
    FLAG,
    NONE,
    implementing,
    number,
    one_of,
    parameter,
    whole,
)
from atomstream.estimators._parameters import COUNT, table

CONSENSUS = table(
    bootstrap=parameter(
        "Count rows a random number of times in each replicate, as intervals need it; by default "
        "under divergences only.",
        *(FLAG, NONE),
    ),
    to_the_end=parameter("Let bootstraps of data at hand settle, too.", FLAG),
    rule=parameter(
        "What chooses the number of atoms: auto, error or reproducibility.",
        one_of("auto", "error", "reproducibility"),
    ),
    min_share=parameter(
        "Share of the replicates that have each atom of a number that is reproducible.",
        number(0, 1, above=True),
    ),
    min_cosine=parameter("Cosine from which a replicate has an atom.", number(0, 1, above=True)),
    n_components=(COUNT, ARRAYS, NONE),
    n_replicates=parameter("Replicates of each number of atoms.", whole(2)),
    model=parameter("The model that replicates are of.", implementing("fit_stream"), NONE),
    holdout=parameter(
        "Share of the rows that a replicate leaves out, and of the columns hidden in these.",
        number(0, 0.5, above=True),
    ),
    block_size=parameter("Rows in a row that are left out together.", COUNT),
)
