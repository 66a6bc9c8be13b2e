"""The parameters of the model of videos: what each is for, and what it may be."""

from atomstream.base.parameters import ARRAYS, FLAG, NONE, one_of, parameter
from atomstream.estimators._parameters import COUNT, table

VIDEO = table(
    mode=parameter(
        "frames: atoms are images; pixels: atoms are curves over time.", one_of("frames", "pixels")
    ),
    snapshots=parameter("Numbers of frames after which the atoms are kept.", ARRAYS),
    grey=parameter("Turn colours into grey.", FLAG),
    nonnegative=parameter(
        "Learn nonnegative codes and atoms; without it both are signed, as the video may be then.",
        FLAG,
    ),
    batch_size=parameter("Frames or pixels per step.", COUNT, NONE),
    n_epochs="Passes over the pixels; frames come once.",
)
