"""Rows of shards that are kept out of learning: read once, never learned, back after a stop."""

import numpy as np
import pytest
from strange import Drawn, planted

from atomstream.cli import main
from atomstream.cluster import Shards
from atomstream.cluster.worker import chosen_rows, rows_at, without_rows
from atomstream.files.codec import read_model
from atomstream.io.feed import Holdout


def listed(*sizes):
    return Shards([Drawn(seed, n_rows) for seed, n_rows in enumerate(sizes)])


def whole(shards):
    return np.concatenate([block for shard in shards for block in shard.read(0, shard.n_rows)])


@pytest.mark.parametrize("sizes", [(100,), (40, 3, 57), (3000, 3000, 2500)])
def test_every_row_is_either_learned_or_held(sizes):
    shards = listed(*sizes)
    rows = chosen_rows(shards, 0.1, 7)
    assert rows.size == min(256, sum(sizes) // 10)
    assert len(np.unique(rows)) == rows.size
    X, left = whole(shards), without_rows(shards, rows.ravel())
    np.testing.assert_array_equal(whole(left), np.delete(X, rows.ravel(), axis=0))
    for some in rows:
        np.testing.assert_array_equal(rows_at(shards, int(some[0]), len(some)), X[some])
    shard = left[0]
    part = np.concatenate([*shard.read(5, 20)])
    np.testing.assert_array_equal(part, whole(Shards([shard]))[5:20])
    assert left.digest() != shards.digest()


def test_a_share_of_nothing_holds_nothing():
    shards = listed(30)
    assert chosen_rows(shards, 0.0, 0).size == 0
    assert without_rows(shards, np.empty(0, int)).digest() == shards.digest()


@pytest.mark.usefixtures("undrawn")
def test_a_run_in_rounds_reports_on_rows_that_it_has_not_learned(tmp_path):
    X, run = planted(2000), tmp_path / "run"
    X[501, 3] = -1  # in the round that reaches the second shard
    np.save(tmp_path / "rows.npy", X)
    options = "--on-bad-shard skip --round-rows 128 --warmup 256 --shard-rows 500 --epochs 1"
    command = f"learn {tmp_path}/rows.npy --atoms 3 --slots 2 {options} --out {run}".split()
    assert main([*command, "--max-time", "0"]) == 0
    first = read_model(run / "model.atoms")[1]["holdout"]
    assert main(["resume", str(run)]) == 0
    model, notes = read_model(run / "model.atoms")
    holdout = Holdout(0, 0)
    holdout.restore(notes["holdout"])
    held = holdout.keys.astype(int)
    assert len(held) == 96  # six neighbours at a place, 16 places
    np.testing.assert_array_equal(holdout.rows, X[held])
    np.testing.assert_array_equal(first["keys"], holdout.keys)
    assert model.n_samples_seen_ == 1500 - np.sum((held < 500) | (held >= 1000))
    assert main(["report", str(run)]) == 0
    page = (run / "report.html").read_text()
    assert "Held-out rows" in page
    assert "rows.npy[500:1000] (" in page
    for share in ("coding", "adding", "waiting", "reading", "serialising"):
        assert f"% {share}" in page
