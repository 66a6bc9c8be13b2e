"""The cards of a report hold what they say: samples, errors, changes, courses, words, pictures."""

import base64
import io

import numpy as np
import pytest

from atomstream import OnlineNMF
from atomstream.looks.cards import bars, course_points, curves, pictures
from atomstream.looks.pages import cards_of
from atomstream.runs.record import record_of
from atomstream.watch.callbacks import History

RNG = np.random.default_rng(0)
X = RNG.random((400, 4)) @ RNG.random((4, 9))


@pytest.fixture(scope="module")
def learned():
    history = History()
    model = OnlineNMF(3, batch_size=20, n_epochs=2, random_state=0).set_callbacks(history).fit(X)
    return model, history


def test_samples_errors_and_courses_are_those_of_the_model(learned):
    model, history = learned
    rows = X[:50]
    cards = cards_of(record_of(model, held_out=rows, history=history))
    codes = model.transform(rows)
    shares = codes / codes.sum(axis=1, keepdims=True)
    lost = ((rows - model.inverse_transform(codes)) ** 2).sum(axis=1)
    order = np.argsort(-model.importance_)
    assert [card.number for card in cards.cards] == order.tolist()
    for card in cards.cards:
        atom = card.number
        assert card.figures["importance"] == pytest.approx(model.importance_[atom])
        wanted = (lost * shares[:, atom]).sum() / ((rows**2).sum(axis=1) * shares[:, atom]).sum()
        assert card.figures["error"] == pytest.approx(wanted)
        most = np.argsort(-codes[:, atom])[:4]
        assert [sample.label for sample in card.samples] == [f"held-out row {i}" for i in most]
        for i, sample in zip(most, card.samples, strict=True):
            assert sample.share == pytest.approx(shares[i, atom])
            assert sample.uses[0] == (shares[i].argmax(), pytest.approx(shares[i].max()))
        usage = [values[atom] for values in history.points["usage"]]
        assert np.mean(card.course) == pytest.approx(np.mean(usage), rel=0.05)
    assert cards.times[-1] == f"{history.n_samples[-1]:,} rows"


def test_changes_are_cosines_with_the_atoms_at_half_of_the_stream():
    class Spy(History):
        def note(self, learner):
            super().note(learner)
            self.seen = [*getattr(self, "seen", []), learner.components_.copy()]

    spy = Spy()
    model = OnlineNMF(3, batch_size=20, n_epochs=1, shuffle=False, random_state=0)
    model.set_callbacks(spy).fit(X[:160])
    assert spy.snapshots.n_samples == list(range(20, 161, 20))
    cards = cards_of(record_of(model, history=spy))
    before, now = spy.seen[3], spy.seen[-1]  # after 80 of 160 samples
    for card in cards.cards:
        a, b = before[card.number], now[card.number]
        wanted = 1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        assert card.figures["change"] == pytest.approx(wanted, abs=1e-4)
    assert any("after 80 samples" in note for note in cards.notes)


def test_pictures_are_the_entries():
    from PIL import Image

    pixels = np.arange(12.0).reshape(1, 3, 4)
    (picture,) = pictures(pixels)
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(picture.png))))
    np.testing.assert_array_equal(shown, np.round(pixels[0] / 11 * 255))
    (picture,) = pictures(np.array([[-1.0, 0.0, 1.0]]))
    points = np.array([point.split(",") for point in picture.curves[0].split()], float)
    np.testing.assert_allclose(points, [[0, 58], [60, 30], [120, 2]])
    assert picture.zero == 30
    assert curves(np.ones((5, 2))).zero is None
    picture = bars(np.array([2.0, -2.0]))
    points = np.array([point.split(",") for point in picture.curves[0].split()], float)
    np.testing.assert_allclose(points[:, 1], [30, 2, 2, 30, 30, 58, 58, 30])
    assert (np.diff(points[:, 0]) >= 0).all()
    assert picture.zero == 30
    assert pictures(np.full((1, 200, 200), np.nan))[0].png  # large and unknown: still a picture
    assert course_points([0.0, 0.5]) == "0,58 120,2"


def test_the_time_moves_the_pictures_to_what_the_atoms_were():
    history = History()
    model = OnlineNMF(3, batch_size=20, n_epochs=1, shuffle=False, random_state=0)
    model.set_callbacks(history).fit(X)
    record = record_of(model, history=history)
    cards = cards_of(record)
    shots = history.snapshots
    assert len(cards.frames) == len(cards.times) == 20
    for time, frame in zip(history.n_samples[:-1], cards.frames, strict=False):
        assert shots.n_samples[frame] == max(n for n in shots.n_samples if n <= time)
    for card in cards.cards:
        assert cards.frames[-1] == len(card.past) == len(shots)
        for atoms, picture in zip(shots.atoms, card.past, strict=True):
            assert picture == bars(atoms[card.number])
        assert card.past[0] != card.picture


def test_pictures_of_the_past_stay_within_bounds(monkeypatch):
    history = History()
    model = OnlineNMF(3, batch_size=20, n_epochs=1, random_state=0).set_callbacks(history).fit(X)
    record = record_of(model, history=history)
    size = sum(len(card.picture.curves[0]) for card in cards_of(record).cards)
    for most, n_shown in ((3.5 * size, 3), (size / 2, 0)):
        monkeypatch.setattr("atomstream.looks.pages.MAX_PAST", int(most))
        cards = cards_of(record)
        assert {len(card.past) for card in cards.cards} == {n_shown}
        assert bool(cards.frames) == bool(n_shown)
