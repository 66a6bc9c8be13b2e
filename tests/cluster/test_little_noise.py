"""Rounds over rows that are nearly free of noise, judged against the rows without it."""

import logging

import numpy as np
import pytest
import scipy.sparse as sp

from atomstream import Checkpoint, OnlineNMF
from atomstream.cluster import Rounds, learning, shards
from atomstream.estimators._slots import SlotLearner


def planted(folder, seed, n=32_768, noise=0.01):
    """Return shards of planted rows, other rows, and these without noise."""
    rng = np.random.default_rng(seed)
    atoms = rng.random((30, 60)) * (rng.random((30, 60)) < 0.3)
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    codes = rng.exponential(size=(n + 1000, 30)) * (rng.random((n + 1000, 30)) < 0.2)
    clean = codes @ atoms
    noisy = np.abs(clean + noise * clean.std() * rng.standard_normal(clean.shape))
    np.save(folder / "rows.npy", noisy[:n])
    return shards(str(folder / "rows.npy")), noisy[n:], clean[n:]


class Once(Checkpoint):
    """Ends a run after its first round."""

    def save(self, *args):
        super().save(*args)
        raise KeyboardInterrupt


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
        kept = {"rounds": short, "checkpoint": Checkpoint(tmp_path / "kept.atoms")}
        model = OnlineNMF(30, random_state=7).fit_stream(rows, slots=8, **kept)
        assert model.rounds_report_.fall > learning.MAX_FALL, model.rounds_report_
        (record,) = caplog.records
        assert "learning is not settled" in record.getMessage()
        OnlineNMF(30, random_state=7).fit_stream(rows, slots=8, **kept)
    assert len(caplog.records) == 1  # no round was left to be judged


def test_steps_are_small_where_the_first_rows_have_little_noise(tmp_path, room):
    for noise, rows_of_a_step in ((0.01, 32), (1.0, 128)):
        rows, *_ = planted(tmp_path, 3, 2176, noise)
        model, short = OnlineNMF(30, random_state=3), Rounds(warmup=2176)
        model.fit_stream(rows, slots=2, rounds=short)
        assert model.n_steps_ == 1 + 2048 // rows_of_a_step
        learner = SlotLearner(model)
        first = np.load(tmp_path / "rows.npy")[:128]
        if noise < 1:  # more is cut at zero, and loses energy by that
            room.near(learner.noise(first), noise**2 / (1 + noise**2), rel=0.3)
        assert learner.noise(sp.csr_array(first)) == pytest.approx(learner.noise(first))
        assert np.isnan(learner.noise(first[:31]))  # as many components as atoms leave nothing


def test_a_run_over_noisy_rows_goes_on_with_the_steps_that_it_began_with(tmp_path):
    rows, *_ = planted(tmp_path, 3, 4096, 1.0)
    rounds, kept = Rounds(warmup=2048), Checkpoint(tmp_path / "model.atoms")
    whole = OnlineNMF(30, random_state=3).fit_stream(rows, slots=2, rounds=rounds)

    with pytest.raises(KeyboardInterrupt):
        OnlineNMF(30, random_state=3).fit_stream(
            rows, slots=2, rounds=rounds, checkpoint=Once(kept.path)
        )
    model = OnlineNMF(30, random_state=3).fit_stream(rows, slots=2, rounds=rounds, checkpoint=kept)
    assert model.rounds_report_.n_rounds == whole.rounds_report_.n_rounds - 1
    assert (model.components_ == whole.components_).all()
