"""The parameters of the model of walks: what each is for, and what it may be."""

from atomstream.base.parameters import ARRAYS, FLAG, NONE, number, one_of, parameter
from atomstream.estimators._parameters import AMOUNT, COUNT, table

SCALINGS = ("none", "stationary")
WALK = table(
    n_components="Rank of the factorization.",
    n_states=parameter("Number of states.", COUNT, NONE),
    tau=parameter(
        "Learn from every TAU-th step of a walk, so that steps depend less on each other.", COUNT
    ),
    step=parameter("Length of the steps.", number(above=True), one_of("auto")),
    averaging=parameter("Whether factors are averaged along the walk.", FLAG),
    scaling=parameter(
        "What is factorized: stationary divides by the frequencies of places, so that busy ones do "
        "not hide the rest; none does not.",
        one_of(*SCALINGS),
    ),
    min_visits=parameter("Visits below which a state has no place.", AMOUNT),
    tol=parameter("Squared sine between averages at which learning ends.", AMOUNT),
    init=(ARRAYS, NONE),
)
