"""The samples that cards of a run name, and those that use each atom most."""

import numpy as np
import pytest

from atomstream.cli import main
from atomstream.looks.pages import cards_of
from atomstream.runs.record import open_record


def opened(path):
    record = open_record(path)
    return record, cards_of(record)


def learned(path, *words):
    assert main([str(word) for word in (*words, "--out", path)]) == 0
    return opened(path)


def check(cards, codes, label_of):
    """Compare the samples of each card with those that use its atom most."""
    assert cards.cards
    for card in cards.cards:
        best = np.argsort(-np.abs(codes[:, card.number]), kind="stable")[:4]
        sizes = np.abs(codes) / np.abs(codes).sum(axis=1, keepdims=True)
        used = [i for i in best if sizes[i, card.number] > 1e-3]
        assert [sample.label for sample in card.samples] == [label_of(i) for i in used]
        for i, sample in zip(used, card.samples, strict=True):
            assert sample.share == pytest.approx(sizes[i, card.number])
