"""Cards of a consensus name the rows that use each atom most."""

import numpy as np
import pandas as pd
from samples_of_atoms import check, learned

RNG = np.random.default_rng(0)


def test_rows_of_tables_have_their_names(tmp_path):
    rows = RNG.random((200, 2)) @ RNG.random((2, 6))
    cells = [f"cell-{i}" for i in range(200)]
    frame = pd.DataFrame(rows, columns=[*"abcdef"])
    frame.rename(index=cells.__getitem__).to_csv(tmp_path / "t.csv", index_label="barcode")
    words = [tmp_path / "t.csv", "--id", "barcode", "--epochs", 1]
    words += ["--atoms", "2-3", "--replicates", 3]
    record, cards = learned(tmp_path / "many", "consensus", *words)
    check(cards, record.model.transform(frame), cells.__getitem__)
    assert cards.cards[0].samples[0].text
