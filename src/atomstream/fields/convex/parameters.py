"""The parameters of the model of atoms made of samples: what each is for, and what it may be."""

from atomstream.base.parameters import one_of, parameter, part
from atomstream.estimators._parameters import AUTO_AMOUNT, COUNT, table

CODES = ("free", "nonnegative", "simplex")
CONVEX = table(
    n_representatives=parameter("Number of samples that all atoms are made of.", COUNT),
    assignment=parameter(
        "Which atom a sample may represent.", one_of("random", "code", "labels", "pooled")
    ),
    codes=(part("prox", CODES),),
    alpha=AUTO_AMOUNT,
    n_epochs=(COUNT,),
)
