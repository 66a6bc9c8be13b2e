"""Rounds over rows that are nearly free of noise, judged against the rows without it."""

import logging

import numpy as np
import pytest

from atomstream import OnlineNMF
from atomstream.cluster import Rounds, learning, shards


def planted(folder, seed, n=32_768):
    """Return shards of planted rows, other rows, and these without noise."""
    rng = np.random.default_rng(seed)
    atoms = rng.random((30, 60)) * (rng.random((30, 60)) < 0.3)
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    codes = rng.exponential(size=(n + 1000, 30)) * (rng.random((n + 1000, 30)) < 0.2)
    clean = codes @ atoms
    noisy = np.abs(clean + 0.01 * clean.std() * rng.standard_normal(clean.shape))
    np.save(folder / "rows.npy", noisy[:n])
    return shards(str(folder / "rows.npy")), noisy[n:], clean[n:]


def error(model, noisy, clean):
    return np.linalg.norm(model.inverse_transform(model.transform(noisy)) - clean)


@pytest.mark.parametrize("slots", [pytest.param(4, marks=pytest.mark.long), 16])
def test_slots_learn_rows_nearly_without_noise_as_serial_learning_does(slots, tmp_path, room):
    ratios = []
    for seed in (105, 107, 109):
        rows, *judged = planted(tmp_path, seed)
        serial = OnlineNMF(30, random_state=seed).fit_stream(rows, rounds=Rounds(batch=256))
        model = OnlineNMF(30, random_state=seed).fit_stream(rows, slots=slots)
        ratios.append(error(model, *judged) / error(serial, *judged))
    room.ratio(max(ratios), at_most=1.1)


def test_rounds_that_end_before_they_settle_say_so(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "atomstream"):
        rows, *_ = planted(tmp_path, 7)
        model = OnlineNMF(30, random_state=7).fit_stream(rows, slots=16)
        assert not caplog.records
        assert abs(model.rounds_report_.fall) < learning.MAX_FALL
        rows, *_ = planted(tmp_path, 7, 3200)
        short = Rounds(warmup=128, first=128, batch=128)
        model = OnlineNMF(30, random_state=7).fit_stream(rows, slots=8, rounds=short)
    assert model.rounds_report_.fall > learning.MAX_FALL, model.rounds_report_
    assert "learning is not settled" in caplog.records[0].getMessage()
