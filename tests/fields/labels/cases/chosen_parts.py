"""A model of labels whose parts are chosen, and its data."""

from functools import partial

import numpy as np
from given import POSITIVE

from atomstream import SupervisedDictionary

CASES = {
    SupervisedDictionary: (
        partial(SupervisedDictionary, 3, n_epochs=1),
        POSITIVE,
        np.arange(40) % 2,
    )
}
