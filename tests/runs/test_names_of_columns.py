"""Columns of inputs are found by their names: several files, chosen columns, reports."""

import numpy as np
import pandas as pd
import pytest
from commands import run

from atomstream import OnlineNMF, callbacks, plots
from atomstream.files.codec import read_model
from atomstream.runs.record import record_of


def test_inputs_without_names_stand_beside_some_with_names(tmp_path):
    X = np.random.default_rng(0).random((90, 3))
    np.save(tmp_path / "x.npy", X[:30])
    pd.DataFrame(X[30:60], columns=list("abc")).to_csv(tmp_path / "y.csv", index=False)
    turned = pd.DataFrame(X[60:], columns=list("abc"))[["c", "a", "b"]]
    turned.to_csv(tmp_path / "z.csv", index=False)
    np.save(tmp_path / "all.npy", X)
    settings = ("--atoms", 2, "--holdout", 0, "--epochs", 1, "--batch-size", 30)
    run(
        "learn",
        *(tmp_path / name for name in ("x.npy", "y.csv", "z.csv")),
        *settings,
        "--out",
        tmp_path / "a",
    )
    run("learn", tmp_path / "all.npy", *settings, "--out", tmp_path / "b")
    found, wanted = (read_model(tmp_path / name / "model.atoms")[0] for name in "ab")
    np.testing.assert_allclose(found.components_, wanted.components_, rtol=1e-9)
    assert found.feature_names_in_.tolist() == list("abc")


def test_columns_that_were_chosen_are_found_by_name_in_other_tables(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).random((60, 5)), columns=list("abcde"))
    frame.to_csv(tmp_path / "x.csv", index=False)
    other = frame[list("ecabd")].drop(columns="e").assign(more=1.0)
    other.to_csv(tmp_path / "y.csv", index=False)
    codes = []
    for number, chosen in enumerate((("--columns", "2-4"), ("--drop", "1", "--drop", "e"))):
        out = tmp_path / f"run{number}"
        run("learn", tmp_path / "x.csv", *chosen, "--atoms", 2, "--epochs", 1, "--out", out)
        for name in ("x", "y"):
            run("encode", out, tmp_path / f"{name}.csv", "--out", tmp_path / "codes.csv")
            codes.append(pd.read_csv(tmp_path / "codes.csv").to_numpy())
    for found in codes:
        np.testing.assert_allclose(found, codes[0], rtol=1e-9)


@pytest.mark.filterwarnings("error")
def test_a_report_finds_rows_held_out_by_their_names(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).random((60, 4)), columns=list("abcd"))
    model = OnlineNMF(2, n_epochs=2, random_state=0).fit(frame)
    straight = record_of(model, held_out=frame[40:])
    turned = record_of(model, held_out=frame[40:][list("dbca")])
    np.testing.assert_array_equal(turned.held_out, straight.held_out)
    drawn = plots.triples_data(model, frame[40:][list("dbca")], 3)
    for one, other in zip(drawn, plots.triples_data(model, frame[40:], 3), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    history = [callbacks.History(held_out=each) for each in (frame[40:], frame[40:][list("dbca")])]
    for each in history:
        OnlineNMF(2, random_state=0).set_callbacks(each).fit(frame[:40])
    np.testing.assert_allclose(history[0].points["held_out"], history[1].points["held_out"])
