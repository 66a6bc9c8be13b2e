"""Models of labels that keep the contract of scikit-learn."""

from atomstream import SupervisedDictionary

GIVEN = {"codes": "free", "atoms": "unit_ball", "n_epochs": 5, "random_state": 0}
MODELS = [SupervisedDictionary(2, **GIVEN), SupervisedDictionary(6, labels="numbers", **GIVEN)]
CASES = {"labels": (MODELS, {})}
