"""A dictionary of patches from a learner of rows keeps its penalty."""

import numpy as np

from atomstream import ImageDictionary, OnlineDictionaryLearning
from atomstream.penalties import Free, TopK


def test_codes_of_few_atoms_need_no_alpha():
    patches = np.random.default_rng(0).random((60, 16))
    learner = OnlineDictionaryLearning(4, codes=TopK(2), random_state=0).fit(patches)
    assert ImageDictionary.from_learner(learner, (4, 4)).alpha == 0
    learner = OnlineDictionaryLearning(4, random_state=0).fit(patches)
    assert ImageDictionary.from_learner(learner, (4, 4)).alpha == 0.1
    learner = OnlineDictionaryLearning(4, codes=Free(l1=0.3), random_state=0).fit(patches)
    image = ImageDictionary.from_learner(learner, (4, 4))
    assert image.reconstruct(np.random.default_rng(1).random((12, 12))).shape == (12, 12)
