"""The parameters of the models of images: what each is for, and what it may be."""

from atomstream.base.parameters import FLAG, parameter
from atomstream.estimators._parameters import COUNT, table

IMAGE = table(
    alpha="Strength of the l1 penalty on the codes, for images in [0, 1].",
    batch_size="Patches per step.",
    stride=parameter("Pixels from patch to patch.", COUNT),
    nonnegative=parameter("Learn nonnegative codes and atoms, without centring.", FLAG),
)
COLOR = table(
    keep_luma=parameter("Whether the grey image is the luma of the result.", FLAG),
)
