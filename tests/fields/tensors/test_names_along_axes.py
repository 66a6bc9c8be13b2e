"""Labels along the axes of tensors are names."""

import numpy as np
import pytest
import xarray as xr
from named_columns import X, assert_same

from atomstream import OnlineCPDictionary

T = X.reshape(60, 4, 2)
LABELLED = xr.DataArray(
    T, dims=("time", "place", "kind"), coords={"place": list("wxyz"), "kind": [10, 20]}
)
TURNED = LABELLED.isel(place=[2, 0, 3, 1], kind=[1, 0]).transpose("time", "kind", "place")


def test_labels_of_axes_are_names_along_them():
    model = OnlineCPDictionary(2, ridge=0.01, n_epochs=2, random_state=0, missing=True)
    codes = model.fit(LABELLED).transform(LABELLED)
    xr.testing.assert_allclose(model.transform(TURNED), codes)
    filled = model.impute(LABELLED.where(LABELLED > 0.3))
    xr.testing.assert_allclose(model.impute(TURNED.where(TURNED > 0.3)), filled)
    mask = np.asarray(TURNED > 0.3)
    xr.testing.assert_allclose(model.impute(TURNED, mask=mask), filled)
    one, other = (
        OnlineCPDictionary(2, random_state=0).fit_stream([LABELLED[:30], second[30:]])
        for second in (LABELLED, TURNED)
    )
    assert_same(one.components_, other.components_)
    with pytest.raises(ValueError, match="The axis 'place' of X has other labels than were learn"):
        model.transform(LABELLED.assign_coords(place=list("wxyq")))
