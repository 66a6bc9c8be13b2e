"""Covariates and outputs are found by their names."""

import numpy as np
import pandas as pd
import pytest
from named_columns import FRAME, MIXED, X, assert_same

from atomstream import SupervisedDictionary, load, save

COVARIATES = pd.DataFrame(np.random.default_rng(1).random((60, 2)), columns=["age", "dose"])
OUTPUTS = pd.DataFrame({"one": X[:, 0] + COVARIATES.age, "two": X[:, 1] - COVARIATES.dose})
TURNED_BESIDE = COVARIATES[["dose", "age"]]


def test_covariates_and_outputs_are_found_by_name(tmp_path):
    settings = {"labels": "numbers", "n_epochs": 5, "random_state": 0}
    model = SupervisedDictionary(3, **settings).fit(FRAME, OUTPUTS, covariates=COVARIATES)
    found = model.predict(FRAME, covariates=COVARIATES)
    save(model, tmp_path / "m.atoms")
    for each in (model, load(tmp_path / "m.atoms")):
        assert_same(each.predict(FRAME[MIXED], covariates=TURNED_BESIDE), found)
        score = each.score(FRAME, OUTPUTS, covariates=COVARIATES)
        assert_same(each.score(FRAME, OUTPUTS[["two", "one"]], covariates=TURNED_BESIDE), score)
    with pytest.raises(ValueError, match="missing is 'age' and unexpected is 'z'"):
        model.predict(FRAME, covariates=COVARIATES.rename(columns={"age": "z"}))
    twin = load(tmp_path / "m.atoms")
    model.partial_fit(FRAME, OUTPUTS, covariates=COVARIATES)
    twin.partial_fit(FRAME[MIXED], OUTPUTS[["two", "one"]], covariates=TURNED_BESIDE)
    assert_same(twin.components_, model.components_)
    assert_same(twin.coef_, model.coef_)
