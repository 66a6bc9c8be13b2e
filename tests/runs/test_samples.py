"""Cards name the samples that use each atom most, for every kind of run."""

import csv

import numpy as np
import pandas as pd
from samples_of_atoms import check, learned

from atomstream import OnlineNMF
from atomstream.looks.pages import cards_of
from atomstream.looks.samples import Sample, Samples
from atomstream.runs.record import record_of

RNG = np.random.default_rng(0)


def test_the_best_of_all_blocks_are_kept():
    codes = RNG.standard_normal((90, 5))
    found, places = Samples(), np.arange(90)
    for first in range(0, 90, 13):
        found.look(
            codes[first : first + 13],
            lambda i, first=first: Sample(str(places[first + i]), "", np.zeros(2)),
        )
    notes = found.notes()
    best = np.unique(np.argsort(-np.abs(codes), axis=0)[:4])
    assert notes["sample_labels"].tolist() == best.astype(str).tolist()
    np.testing.assert_array_equal(notes["sample_codes"], codes[best])
    assert notes["n_looked_at"] == 90
    assert Samples().notes() == {}


def test_rows_of_tables_have_their_names(tmp_path):
    rows = RNG.random((200, 2)) @ RNG.random((2, 6))
    cells = [f"cell-{i}" for i in range(200)]
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        table = [[cell, *row] for cell, row in zip(cells, rows.tolist(), strict=True)]
        csv.writer(file).writerows([["barcode", *"abcdef"], *table])
    words = [tmp_path / "t.csv", "--id", "barcode", "--epochs", 1]
    record, cards = learned(tmp_path / "run", "learn", *words, "--atoms", 3, "--holdout", 0.2)
    places = [cells.index(name) for name in record.held_out_names]
    np.testing.assert_allclose(record.held_out, rows[places])
    codes = record.model.transform(pd.DataFrame(record.held_out, columns=[*"abcdef"]))
    check(cards, codes, lambda i: f"held-out row {cells[places[i]]}")


def test_the_index_of_a_frame_names_rows_held_out():
    frame = pd.DataFrame(RNG.random((30, 4)), [f"AAAC-{i}" for i in range(30)], list("abcd"))
    model = OnlineNMF(2, random_state=0).fit(frame)
    record = record_of(model, held_out=frame)
    codes = model.transform(frame)
    check(cards_of(record), codes, lambda i: f"held-out row AAAC-{i}")
