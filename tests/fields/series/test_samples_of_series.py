"""Cards of runs of series name the windows that use each atom most."""

import numpy as np
import pandas as pd
from samples_of_atoms import check, learned

from atomstream.streams import windows

RNG = np.random.default_rng(0)


def test_windows_have_their_dates(tmp_path):
    times = np.arange(80)[:, None]
    values = (2 + np.sin(times / 3 + np.arange(4))).round(4)
    values[40:43] = np.nan
    dates = np.datetime64("2021-01-01") + np.arange(80)
    frame = pd.DataFrame(values, columns=list("abcd"))
    frame.insert(0, "day", dates.astype(str))
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["series", "impute", tmp_path / "t.csv", "--atoms", 3, "--window", 6, "--no-scale"]
    words.append("--no-center")  # the learner then takes windows of the table
    record, cards = learned(tmp_path / "run", *words, "--init-batches", 3)
    rows = next(windows(values, 6, 100, stride=3))
    whole = ~np.isnan(rows).any(axis=1)
    firsts = 3 * np.flatnonzero(whole)
    codes = record.model.learner_.transform(rows[whole])
    check(cards, codes, lambda i: f"{dates[firsts[i]]} to {dates[firsts[i] + 5]}")
    sample = cards.cards[0].samples[0]
    assert len(sample.picture.curves) == 3
    assert set(sample.text.split(", ")) < set("abcd")
