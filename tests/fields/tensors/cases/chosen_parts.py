"""A model of tensors whose parts are chosen, and its data."""

from functools import partial

from given import POSITIVE

from atomstream import OnlineCPDictionary

CASES = {
    OnlineCPDictionary: (partial(OnlineCPDictionary, 3, n_epochs=1), POSITIVE.reshape(40, 3, 2))
}
