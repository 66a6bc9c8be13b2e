"""The parameters of the model of networks: what each is for, and what it may be."""

from atomstream.base.parameters import ARRAYS, FUNCTION, SPARSE, implementing, parameter
from atomstream.estimators._parameters import COUNT, TEXT, table

NETWORK = table(
    motif=parameter(
        "path:K, star:K or cycle:K of K nodes, or wedge:DEPTH.",
        *(TEXT, implementing("adjacency", "a Motif"), ARRAYS, SPARSE, implementing("nodes")),
    ),
    chain=parameter(
        "pivot (motifs that are trees), glauber (any motif), approximate_pivot, or all (every copy "
        "once).",
        *(TEXT, FUNCTION),
    ),
    n_batches=parameter("Number of batches.", COUNT),
    batch_size="Copies of the motif per batch.",
    thin=parameter("Moves of the chain from copy to copy.", COUNT),
)
