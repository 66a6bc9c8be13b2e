"""Cards of runs of tensors name the slices that use each atom most."""

import numpy as np
import xarray as xr
from samples_of_atoms import check, learned

RNG = np.random.default_rng(0)


def test_slices_of_tensors_have_their_names(tmp_path):
    X = RNG.random((30, 4, 5))
    places, hours = ["north", "south", "east", "west"], np.arange(5)
    dates = np.datetime64("2024-01-01", "ns") + np.arange(30) * np.timedelta64(1, "D")
    known = {"date": dates, "place": places, "hour": hours}
    data = xr.Dataset({"trips": (("date", "place", "hour"), X)}, known)
    data.to_netcdf(tmp_path / "x.nc", engine="scipy")
    words = ["tensor", "learn", tmp_path / "x.nc", "--atoms", 3, "--epochs", 2]
    record, cards = learned(tmp_path / "run", *words)
    check(cards, record.model.transform(X), lambda i: str(dates[i])[:10])
    sample = cards.cards[0].samples[0]
    number = int((np.datetime64(sample.label) - np.datetime64("2024-01-01")).astype(int))
    i, j = np.unravel_index(X[number].argmax(), X[number].shape)
    assert sample.text.startswith(f"{places[i]} {hours[j]} {X[number].max():.2g}, ")
