"""Tolerances: the papers' laws, cut where short runs need it, by name and by hand."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from atomstream import OnlineNMF
from atomstream.coders import ActiveSet, Auto, tolerances
from atomstream.coders.tolerances import LogTolerance, RootTolerance

LAWS = {LogTolerance: lambda t: np.log(t) ** -2.0, RootTolerance: lambda t: t**-0.5}


def test_every_tolerance_is_in_the_list():
    assert {part.__name__ for part in LAWS} == set(tolerances.__all__)


@pytest.mark.parametrize("kind", LAWS)
def test_the_law_is_the_papers_and_the_cut_is_kept(kind):
    steps = [2, 10, 100, 10**6]
    assert [kind(3.0, most=10.0)(t) for t in steps] == pytest.approx(
        [3 * LAWS[kind](t) for t in steps]
    )
    values = [kind()(t) for t in range(1, 200)]
    assert max(values) == 0.2
    assert all(late <= early for early, late in itertools.pairwise(values))
    assert kind() == kind(1.0, 0.2) != kind(2.0)


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("settings", [{"K": 0.0}, {"K": float("nan")}, {"most": -1.0}])
def test_what_is_not_above_zero_is_refused(kind, settings):
    with pytest.raises(
        ValueError, match=f"{kind.__name__} needs {next(iter(settings))} to be a number above 0"
    ):
        kind(**settings)


@pytest.mark.parametrize(
    ("name", "part"), [("log", LogTolerance()), ("root", RootTolerance()), (0.1, 0.1)]
)
def test_names_stand_for_parts_and_later_batches_are_coded_more_exactly(name, part):
    X = np.random.default_rng(0).random((600, 10))
    named, given = (
        OnlineNMF(4, coder=Auto(tol=tol), batch_size=50, n_epochs=1, random_state=0).fit(X)
        for tol in (name, part)
    )
    assert np.array_equal(named.components_, given.components_)
    wanted = part(13) if callable(part) else part
    assert named.clock_.tolerance.violation == wanted


def test_the_codes_of_every_step_keep_its_tolerance(room):
    asked, found = [], []

    @dataclass(frozen=True)
    class Recording(ActiveSet):
        def encode(self, batch, dictionary, objective, accuracy, start=None):
            codes = super().encode(batch, dictionary, objective, accuracy, start)
            atoms, h = dictionary.atoms(), codes.values
            curvature = np.maximum((atoms**2).sum(axis=1), 1e-300)
            best = np.maximum(
                h - ((h @ atoms - batch.X) @ atoms.T + objective.codes.l1) / curvature, 0
            )
            rest = np.linalg.norm(batch.X - h @ atoms, axis=1)
            rest = np.maximum(rest, np.sqrt(0.05 * objective.codes.l1 * h.sum(axis=1)))
            asked.append(accuracy.violation)
            found.append(((np.abs(best - h) * np.sqrt(curvature)).max(axis=1) / rest).max())
            return codes

    X = np.random.default_rng(1).random((2000, 12))
    OnlineNMF(5, coder=Recording(), alpha=0.05, batch_size=50, n_epochs=1, random_state=0).fit(X)
    del asked[40:], found[40:]  # of the codes by which usage is measured in the end
    assert asked == [RootTolerance()(t) for t in range(1, 41)]
    assert (np.array(found) <= np.array(asked) * (1 + 1e-9)).all()
    room.fall(np.mean(found[-10:]), np.mean(found[5:15]), at_least=0.08)


@pytest.mark.parametrize("tol", [-0.1, True, float("inf"), float("nan")])
def test_numbers_out_of_range_are_refused(tol):
    with pytest.raises(ValueError, match=r"tol must be a number of at least 0"):
        OnlineNMF(2, coder=Auto(tol=tol)).fit(np.ones((4, 3)))
