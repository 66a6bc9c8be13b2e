"""Cards name the samples that use each atom most, for every kind of run."""

import csv

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import atomstream
from atomstream import OnlineNMF
from atomstream.cli import main
from atomstream.fields.networks import Network
from atomstream.fields.networks.chains.base import patches_of
from atomstream.looks.pages import cards_of, n_atoms_of
from atomstream.looks.samples import Sample, Samples
from atomstream.runs.record import open_record, record_of
from atomstream.streams import windows

RNG = np.random.default_rng(0)


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


def test_patches_of_networks_have_their_nodes(tmp_path):
    graph = nx.relabel_nodes(nx.karate_club_graph(), lambda node: f"member {node}")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    words = ["network", "learn", tmp_path / "g.graphml", "--motif", "path:4", "--atoms", 3]
    record, cards = learned(tmp_path / "run", *words, "--batches", 3, "--batch-size", 50)
    network = Network.of(tmp_path / "g.graphml")
    numbers = {label: number for number, label in enumerate(network.labels)}
    seen = set()
    for card in cards.cards:
        assert card.samples
        for sample in card.samples:
            nodes = [numbers[name] for name in sample.text.removeprefix("nodes ").split(", ")]
            (code,) = record.model.learner_.transform(patches_of(network, np.array([nodes])))
            assert sample.share == pytest.approx(code[card.number] / code.sum())
            seen.add((card.number, *sorted(nodes)))
    assert len(seen) == sum(len(card.samples) for card in cards.cards)


def test_slices_of_tensors_have_their_names(tmp_path):
    X = RNG.random((30, 4, 5))
    places, hours = ["north", "south", "east", "west"], np.arange(5)
    dates = np.datetime64("2024-01-01", "ns") + np.arange(30) * np.timedelta64(1, "D")
    known = {"date": dates, "place": places, "hour": hours}
    data = xr.Dataset({"trips": (("date", "place", "hour"), X)}, known)
    data.to_netcdf(tmp_path / "x.nc", engine="scipy")
    words = ["tensor", "learn", tmp_path / "x.nc", "--atoms", 3, "--epochs", 2]
    record, cards = learned(tmp_path / "run", *words)
    check(cards, record.model.transform(X), lambda i: str(dates[i])[:10])
    sample = cards.cards[0].samples[0]
    number = int((np.datetime64(sample.label) - np.datetime64("2024-01-01")).astype(int))
    i, j = np.unravel_index(X[number].argmax(), X[number].shape)
    assert sample.text.startswith(f"{places[i]} {hours[j]} {X[number].max():.2g}, ")


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
    words += ["--atoms", "2-3", "--replicates", 3]
    record, cards = learned(tmp_path / "many", "consensus", *words)
    check(cards, record.model.transform(pd.DataFrame(rows, columns=[*"abcdef"])), cells.__getitem__)
    assert cards.cards[0].samples[0].text


def test_the_index_of_a_frame_names_rows_held_out():
    frame = pd.DataFrame(RNG.random((30, 4)), [f"AAAC-{i}" for i in range(30)], list("abcd"))
    model = OnlineNMF(2, random_state=0).fit(frame)
    record = record_of(model, held_out=frame)
    codes = model.transform(frame)
    check(cards_of(record), codes, lambda i: f"held-out row AAAC-{i}")


def test_atoms_of_all_materials_have_cards_of_their_own(tmp_path):
    from zoo import ZOO

    model, data, _ = ZOO["colours"]
    atomstream.save(model.fit(data()), tmp_path / "m.atoms")
    record, cards = opened(tmp_path / "m.atoms")
    shares = np.concatenate([part.importance_ for part in model.dictionaries_.values()])
    assert sorted(card.number for card in cards.cards) == [0, 1, 2, 3]
    for card in cards.cards:
        assert card.figures["importance"] == shares[card.number]
        assert card.text == f"material: {model.materials_[card.number // 2]}"
        assert card.picture.png
    assert n_atoms_of(record) == 4
