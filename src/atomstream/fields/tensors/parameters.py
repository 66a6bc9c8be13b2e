"""The parameters of the model of tensors: what each is for, and what it may be."""

from atomstream.base.parameters import ARRAYS, NONE, implementing, one_of, parameter, part, whole
from atomstream.estimators._parameters import LIST, TUPLE, table
from atomstream.estimators.registry import SETS

CP = table(
    n_components="Number of atoms, the rank.",
    atoms=(part("prox", {*SETS, "bounded"}), LIST, TUPLE),
    reshape=parameter("Groups of modes that are one.", LIST, TUPLE, NONE),
    updater=parameter(
        "Steps of the loadings: auto, or atomstream.updates.LoadingSweep(radius=, n_sweeps=).",
        *(one_of("auto"), implementing("bound", "a part such as updates.LoadingSweep")),
    ),
    batch_size="Samples per step.",
    n_epochs="Passes over the samples.",
    fixed_components=(whole(0),),
    init=(one_of("random", "samples"), ARRAYS, NONE),
)
