"""Cards of runs of videos name the frames or pixels that use each atom most."""

import numpy as np
import pytest
from samples_of_atoms import check, learned

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("mode", ["frames", "pixels"])
def test_frames_and_pixels_of_videos(tmp_path, mode):
    video = RNG.random((20, 6, 5))
    np.save(tmp_path / "v.npy", video)
    words = ["video", "learn", tmp_path / "v.npy", "--mode", mode, "--atoms", 3]
    more = ["--epochs", 1] if mode == "pixels" else []
    record, cards = learned(tmp_path / "run", *words, *more)
    codes = record.model.transform(video)
    if mode == "frames":
        check(cards, codes, "frame {}".format)
        assert cards.cards[0].samples[0].picture.png
    else:
        flat = codes.reshape(30, 3)
        check(cards, flat, lambda i: f"pixel in row {i // 5}, column {i % 5}")
        assert cards.cards[0].samples[0].picture.curves
