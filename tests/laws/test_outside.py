"""Parts from outside the package, one of each role, at work in the estimators."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.isotonic import isotonic_regression

from atomstream import (
    IncompatiblePartsError,
    InputError,
    NotConvergedWarning,
    OnlineDictionaryLearning,
    OnlineNMF,
    load,
    plots,
    report,
)
from atomstream.cli import main
from atomstream.coders import Auto, Coder, Codes
from atomstream.io import Feed, InputOptions, inputs, open_inputs, register_reader
from atomstream.looks import Look, RowsLook, Table, look_of, register_look
from atomstream.losses import Entrywise
from atomstream.memory import Delta, GramSums, Memory, Statistics
from atomstream.penalties import Penalty, Simplex
from atomstream.testing import check_loss, check_penalty, check_updater
from atomstream.updates import Updater


def data(n=400, d=12, r=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.exponential(size=(n, r)) @ rng.random((r, d))


# -- a loss


@dataclass(frozen=True)
class LogCosh(Entrywise):
    """Nearly squared for small errors, nearly absolute for large ones."""

    def entries(self, x, y):
        return np.logaddexp(x - y, y - x) - np.log(2)

    def gradient(self, X, Y):
        return np.tanh(Y - X)


@dataclass(frozen=True)
class FastLogCosh(LogCosh):
    """The same with a majoriser: the quadratic with weights tanh(e) / e touches it from above."""

    exponents: ClassVar[tuple[float, float]] = (2.0, 1.0)

    def split(self, X, Y):
        error = np.maximum(np.abs(Y - X), 1e-12)
        weights = np.tanh(error) / error
        return weights * Y, weights * X


@pytest.mark.parametrize(
    ("loss", "updater"), [(LogCosh(), "SubgradientStep"), (FastLogCosh(), "Majorise")]
)
def test_a_loss(loss, updater, room):
    X = data()
    model = OnlineNMF(4, loss=loss, n_epochs=10, random_state=0).fit(X)
    assert type(model.algorithm_.updater).__name__ == updater
    start = OnlineNMF.from_components(np.ones((4, 12)), loss=loss)
    room.error(-model.score(X), at_most=0.05 * -start.score(X))


def test_fit_to_the_default_end_warns_once_of_a_loss_without_a_majoriser():
    X = data(60)
    sentence = r"LogCosh has no majoriser, so fit .*; give the loss exponents and split .*n_epochs"
    model = OnlineNMF(4, loss=LogCosh(), random_state=0)
    with pytest.warns(NotConvergedWarning, match=sentence) as told:
        model.fit(X)
    assert [warning.filename for warning in told] == [__file__]
    # What was asked for is no surprise, and warnings are errors in this suite.
    model.set_params(n_epochs=2).fit(X)
    model.set_params(n_epochs=None, updater="spsg").fit(X)
    OnlineNMF(4, loss=LogCosh(), random_state=0).fit_stream([X])


# -- sets, of atoms and of codes


@dataclass(frozen=True)
class Rising(Penalty):
    """Rows whose entries never fall, of length at most one."""

    couples: ClassVar[str] = "rows"

    def prox(self, rows, step):
        rising = np.stack([isotonic_regression(row) for row in rows])
        return rising / np.maximum(np.linalg.norm(rising, axis=1, keepdims=True), 1)


@dataclass(frozen=True)
class AtMost(Penalty):
    """Rows without negative entries whose sum is at most ``total``."""

    total: float = 1.0
    couples: ClassVar[str] = "rows"
    nonnegative: ClassVar[bool] = True

    def prox(self, rows, step):
        clipped = np.maximum(rows, 0)
        large = clipped.sum(axis=1) > self.total
        clipped[large] = Simplex(self.total).prox(rows[large], 0.0)
        return clipped

    def conjugate(self, rows):
        return self.total * np.maximum(rows.max(axis=1), 0)


def test_a_set_of_atoms(room):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3)) @ np.sort(rng.standard_normal((3, 10)), axis=1)
    model = OnlineDictionaryLearning(3, alpha=0, atoms=Rising(), n_epochs=50, random_state=0).fit(X)
    assert (np.diff(model.components_, axis=1) >= -1e-12).all()
    room.error(-model.score(X), at_most=0.01 * 0.5 * (X**2).sum(axis=1).mean())


def test_a_set_of_codes():
    X = data()
    model = OnlineNMF(4, codes=AtMost(6.0), random_state=0).fit(X)
    codes = model.transform(X)  # certified: no warning
    assert (codes.sum(axis=1) <= 6 * (1 + 1e-9)).all()
    inside = codes.sum(axis=1) < 5.9
    atoms = model.components_
    free = OnlineNMF.from_components(atoms).transform(X[inside])
    assert 10 < inside.sum() < 390
    assert_allclose(codes[inside], free, atol=1e-4)
    with pytest.raises(ValueError, match=r"alpha=0.1 needs a part with a field 'l1', got AtMost"):
        OnlineNMF(4, codes=AtMost(), alpha=0.1).fit(X)


# -- a coder


@dataclass(frozen=True)
class LeastSquares(Coder):
    """Signed codes without a penalty, all at once."""

    needs: ClassVar[dict[str, tuple[str, ...]]] = {"loss": ("quadratic",)}

    def encode(self, batch, dictionary, objective, accuracy, start=None):
        values = np.linalg.lstsq(dictionary.atoms().T, batch.X.T, rcond=None)[0].T
        return Codes(values, np.zeros(len(values)))


def test_a_coder():
    X = data()
    settings = {"n_components": 3, "alpha": 0, "random_state": 0}
    ours = OnlineDictionaryLearning(coder=LeastSquares(), **settings).fit(X)
    twin = OnlineDictionaryLearning(coder=Auto(tol=1e-9), **settings).fit(X)
    assert_allclose(ours.components_, twin.components_, rtol=1e-5)
    assert_allclose(ours.transform(X), twin.transform(X), rtol=1e-5, atol=1e-7)
    with pytest.raises(IncompatiblePartsError, match="LeastSquares needs a loss that is quadratic"):
        OnlineNMF(3, coder=LeastSquares(), loss="kl").fit(X)
    with pytest.raises(IncompatiblePartsError, match="LeastSquares needs complete rows"):
        OnlineDictionaryLearning(3, coder=LeastSquares(), missing=True).fit(X)


# -- an updater, with a memory of its own


@dataclass(frozen=True, kw_only=True)
class Gradient(Delta):
    """The sum of the gradients of a batch, and of squared codes."""

    slope: np.ndarray
    squares: float


class Momentum(Memory):
    """Running averages of both."""

    def __init__(self, n_components, n_features):
        self.slope = np.zeros((n_components, n_features))
        self.squares = 0.0

    def absorb(self, delta, weight):
        share = weight / delta.mass
        self.slope = (1 - weight) * self.slope + share * delta.slope
        self.squares = (1 - weight) * self.squares + share * delta.squares


@dataclass(frozen=True)
class Gradients(Statistics):
    """Measures the gradient of any loss."""

    def start(self, n_components, n_features, loss):
        return Momentum(n_components, n_features)

    def measure(self, batch, codes, dictionary, objective):
        h = codes.values
        error = objective.loss.gradient(batch.X, dictionary.decode(h))
        return Gradient(
            slope=h.T @ error,
            squares=(h**2).sum(),
            usage=np.abs(h).sum(axis=0),
            objective=objective.values(batch, h, dictionary).sum(),
            mass=batch.mass,
        )


@dataclass(frozen=True)
class HeavyBall(Updater):
    """A step along the average of past gradients, projected."""

    pace: float = 1.0
    statistics: ClassVar[Gradients] = Gradients()

    def update(self, state, objective, clock, latest=()):
        memory = state.memory
        atoms = state.dictionary.atoms() - self.pace * memory.slope / memory.squares
        state.dictionary.assign(objective.atoms.prox(atoms, 0.0))


def test_an_updater_with_its_own_memory(room):
    X = data()
    settings = {"n_epochs": 100, "batch_size": 50, "schedule": "constant", "random_state": 0}
    model = OnlineNMF(4, updater=HeavyBall(), **settings).fit(X)
    start = OnlineNMF(4, updater=HeavyBall(), random_state=0).partial_fit(X[:50])
    assert isinstance(model.memory_, Momentum)
    room.error(-model.score(X), at_most=0.05 * -start.score(X))
    whole, half = (OnlineNMF(4, updater=HeavyBall(), random_state=0) for _ in range(2))
    assert_array_equal(whole.partial_fit(X).components_, half.fit_stream([X]).components_)
    for refused, sentence in (
        (lambda: model.set_params(damping=0.1).partial_fit(X), "damping=0.1 needs a part with"),
        (lambda: start.surrogate(), "Momentum has no surrogate"),
        (lambda: start.stationarity(X), "Gradient holds no gradient of the mean loss"),
    ):
        with pytest.raises((ValueError, TypeError), match=sentence):
            refused()


@pytest.mark.filterwarnings("ignore:Column 0")  # most of the energy is there on purpose
def test_an_updater_of_signed_atoms(room):
    X = np.random.default_rng(0).standard_normal((400, 12)) * 0.5 ** np.arange(12)
    settings = {"alpha": 0, "schedule": "constant", "random_state": 0}
    model = OnlineDictionaryLearning(3, updater=HeavyBall(), n_epochs=100, **settings).fit(X)
    best = 0.5 * (np.linalg.svd(X)[1][3:] ** 2).sum() / len(X)  # of any three atoms
    assert isinstance(model.memory_, Momentum)
    room.ratio(-model.score(X) / best, at_most=1.1)
    assert (model.components_ < -0.1).any()
    with pytest.raises(IncompatiblePartsError, match=r"Majorise needs .* nonnegative"):
        model.set_params(updater="majorise", codes="free").fit(X)


def test_what_has_no_default_and_is_left_out_is_named():
    @dataclass(frozen=True)
    class Silent(Updater):
        def update(self, state, objective, clock, latest=()):
            raise NotImplementedError

    @dataclass(frozen=True)
    class Loose(Penalty):
        def prox(self, rows, step):
            return rows

    with pytest.raises(
        TypeError, match=r"updater=.*Silent\(\) does not name its statistics, what "
    ):
        OnlineNMF(2, updater=Silent()).fit(data())
    for argument in ("atoms", "codes"):
        words = rf"{argument}=.*Loose\(\) does not name its couples, which entries "
        with pytest.raises(TypeError, match=words):
            OnlineDictionaryLearning(2, **{argument: Loose()}).fit(data())


# -- a schedule


def equal_shares(step, mass, total):
    """Weigh every sample alike."""
    return mass / total


def test_a_schedule():
    X = data()
    ours, twin = (
        OnlineNMF(4, schedule=schedule, random_state=0).fit(X)
        for schedule in (equal_shares, "harmonic")
    )
    assert_array_equal(ours.components_, twin.components_)


# -- checks of all of these


def test_the_parts_are_what_they_say():
    check_loss(LogCosh())
    check_loss(FastLogCosh())
    check_penalty(Rising())
    check_penalty(AtMost(2.0))
    check_updater(HeavyBall())


# -- a reader of files


def records(path, options):
    """Read records of 32-bit numbers, as many to a row as the file says first."""
    width = np.fromfile(path, np.int32, count=1)[0]
    return np.memmap(path, np.float32, mode="r", offset=4).reshape(-1, width)


def test_a_reader(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(inputs, "KINDS", dict(inputs.KINDS))
    path, plain = tmp_path / "data.Rec.CSV", tmp_path / "data.npy"
    X = data().astype(np.float32)
    path.write_bytes(np.int32(X.shape[1]).tobytes() + X.tobytes())
    np.save(plain, X)
    register_reader(".rec.csv", records)
    batches = Feed(open_inputs([str(path)]), 100).batches()
    ours, twin = (OnlineNMF(4, random_state=0) for _ in range(2))
    ours.fit_stream(piece.X for piece in batches)
    assert_array_equal(ours.components_, twin.fit_stream(np.split(X, 4)).components_)
    for source in (path, plain):
        assert main(["learn", str(source), "--out", f"{source}.run"]) == 0
        assert main(["encode", f"{source}.run", str(source), "--out", f"{source}.npz"]) == 0
    ours, twin = (load(f"{source}.run/model.atoms") for source in (path, plain))
    assert_array_equal(ours.components_, twin.components_)
    with pytest.raises(InputError, match=r"--columns chooses columns of tables, and .* no"):
        open_inputs([str(path)], InputOptions(columns=("1",)))
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"data.Rec.CSV cannot be read \(IndexError"):
        open_inputs([str(path)])
    with pytest.raises(ValueError, match="ending='rec' is not an ending"):
        register_reader("rec", records)


# -- a look


class MeanAndRest(BaseEstimator):
    """A model that owes nothing to the package: the mean of the rows, and what is left of one."""

    def fit(self, X, y=None):
        mean = np.mean(X, axis=0)
        self.components_ = np.stack([mean, X[0] - mean])
        self.importance_ = np.array([0.75, 0.25])
        return self


class MeanLook(Look):
    """A mean and a rest: two curves, each with a word in the table."""

    title = "Mean and rest"

    def known(self, record):
        """Return the model in a few lines."""
        return {"model": f"a mean of {record.model.components_.shape[1]} features"}

    def table(self, record, most=20):
        """Return the share of each part, and its word."""
        shares = record.model.importance_.tolist()
        rows = [(0, shares[0], "mean"), (1, shares[1], "rest")]
        heads = {"code_share": "share of the code", "features": "what it is"}
        return Table("part", heads, rows[:most])

    def plot(self, model, **options):
        """Draw both parts as curves over the features."""
        return plots.curves(model, n_columns=2, **options)


@dataclass(frozen=True)
class Multiplicative(Updater):
    """Lee and Seung's rule on A and B, by the names that the guide gives them."""

    statistics: ClassVar[GramSums] = GramSums()

    def update(self, state, objective, clock, latest=()):
        atoms = state.dictionary.atoms()
        risen = state.memory.cross / np.maximum(state.memory.gram @ atoms, 1e-12)
        state.dictionary.assign(objective.atoms.prox(atoms * risen, 0.0))


def test_an_updater_on_a_memory_of_the_library():
    check_updater(Multiplicative())


def test_a_set_that_does_not_say_it_is_nonnegative_is_told_how():
    with pytest.raises(ValueError, match="or, if it holds none, give it nonnegative = True"):
        OnlineNMF(2, atoms=Rising()).fit(data())
    with pytest.raises(ValueError, match=r"for signed ones\.$"):  # known: no advice
        OnlineNMF(2, atoms="unit_ball").fit(data())


def test_a_look(tmp_path):
    with pytest.raises(InputError, match=r"No look is known of a MeanAndRest; .*register_look"):
        look_of(MeanAndRest())
    register_look(MeanAndRest, MeanLook)
    model = MeanAndRest().fit(data())
    pytest.importorskip("matplotlib")
    page = report(model, tmp_path).read_text(encoding="utf-8")
    for told in ("Mean and rest of a MeanAndRest", "a mean of 12 features", "what it is", "rest"):
        assert told in page
    assert (tmp_path / "figures/atoms.png").exists()
    assert "0: 75.0 %" in look_of(model).thumbnails(model)
    with pytest.raises(TypeError, match="look must be a class derived from Look, got 'MeanLook'"):
        register_look(MeanAndRest, "MeanLook")


def test_a_look_of_a_class_derived_from_one_of_the_package():
    class Spectra(OnlineNMF):
        pass

    class SpectraLook(RowsLook):
        def plot(self, model, **options):
            return "drawn"

    model = Spectra(2, random_state=0).fit(data())
    assert type(look_of(model)) is RowsLook  # that of the class it is derived from
    register_look(Spectra, SpectraLook)
    assert type(look_of(model)) is SpectraLook
    assert model.plot() == "drawn"
    assert type(look_of(OnlineNMF())) is RowsLook
