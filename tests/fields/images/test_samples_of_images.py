"""Cards of models of images name the patches that use each atom most."""

import numpy as np
import pytest
from fields.images.cases.zoo import CASES
from samples_of_atoms import learned, opened

import atomstream
from atomstream.looks.pages import n_atoms_of

RNG = np.random.default_rng(0)


def test_patches_of_images_have_their_places(tmp_path):
    from PIL import Image

    pixels = RNG.integers(0, 255, (20, 24), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    words = ["image", "learn", tmp_path / "a.png", "--atoms", 4, "--patch", 4, "--patches", 400]
    record, cards = learned(tmp_path / "run", *words)
    for sample in (sample for card in cards.cards for sample in card.samples):
        name, row, column = sample.label.split(", ")
        top, left = (int(part.split()[1]) for part in (row, column))
        patch = pixels[top : top + 4, left : left + 4].reshape(1, -1) / 255.0
        (code,) = np.abs(record.model.learner_.transform(patch - patch.mean()))
        most, share = sample.uses[0]
        assert name == "a.png"
        assert share == pytest.approx(code[most] / code.sum(), abs=1e-4)


def test_atoms_of_all_materials_have_cards_of_their_own(tmp_path):
    model, data, _ = CASES["colours"]
    atomstream.save(model.fit(data()), tmp_path / "m.atoms")
    record, cards = opened(tmp_path / "m.atoms")
    shares = np.concatenate([part.importance_ for part in model.dictionaries_.values()])
    assert sorted(card.number for card in cards.cards) == [0, 1, 2, 3]
    for card in cards.cards:
        assert card.figures["importance"] == shares[card.number]
        assert card.text == f"material: {model.materials_[card.number // 2]}"
        assert card.picture.png
    assert n_atoms_of(record) == 4
