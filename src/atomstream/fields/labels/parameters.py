"""The parameters of dictionaries that predict labels: what each is for, and what it may be."""

from atomstream.base.parameters import ARRAYS, NONE, instance, one_of, parameter
from atomstream.estimators._parameters import AMOUNT, table
from atomstream.fields.labels.losses import LABELS

SUPERVISED = table(
    codes=(one_of("free", "nonnegative"),),
    labels=parameter("What is predicted: classes, numbers or counts.", one_of(*LABELS)),
    weight=parameter(
        "How much labels count, in units of half the mean squared length of a row.", AMOUNT
    ),
    shrinkage=parameter("Strength of the squared penalty on the head.", AMOUNT),
    classes=parameter("All classes, where the first rows do not show them.", ARRAYS, NONE),
    class_weight=parameter(
        "What a label of each class counts: balanced, or numbers by class.",
        *(one_of("balanced"), instance(dict), NONE),
    ),
)
