"""Online NMF under every divergence: the public calls, and the laws that the squared loss does not
test.

model = OnlineNMF(20, loss="kl").fit(counts)           # sparse or dense; atoms are distributions
over features OnlineNMF(20, loss=Beta(0.5)).fit(spectra)             # a family's member, as a part
OnlineNMF(20, loss=ItakuraSaito(zeros="refuse"))       # zeros are raised unless refused
OnlineNMF(20, loss="huber", updater="spsg")             # the paper's projected subgradient steps
robust = OnlineNMF(20, loss=Huber(30.0)).fit(pictures)
robust.clean(pictures), robust.outliers(pictures)      # what the model explains, and what goes
beyond it
"""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from strategies import LOSS_NAMES, LOSSES, positive

import atomstream
from atomstream import OnlineNMF
from atomstream.cli import main
from atomstream.coders import Multiplicative
from atomstream.dictionaries import Rows
from atomstream.estimators.registry import resolve_loss
from atomstream.exceptions import IncompatiblePartsError
from atomstream.losses import (
    L1,
    Alpha,
    Beta,
    Hellinger,
    Huber,
    ItakuraSaito,
    KullbackLeibler,
    Squared,
)
from atomstream.losses.majorisers import power_step
from atomstream.memory import Majorants
from atomstream.penalties import Box, Free, Nonnegative, NonnegativeBall, Simplex
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy
from atomstream.problem.objective import Objective
from atomstream.watch.callbacks import History

SPLIT = [loss for loss in LOSSES if loss.exponents is not None]
parametrize = pytest.mark.parametrize("loss", SPLIT, ids=repr)


def counts(n=120, d=15, seed=0, total=60):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(d, 0.3), 4)
    return np.array(
        [rng.multinomial(total, p) for p in rng.dirichlet(np.full(4, 0.3), n) @ topics]
    ).astype(float)


@parametrize
@pytest.mark.parametrize(
    "penalty", [Nonnegative(), Nonnegative(l1=0.5), Nonnegative(l1=0.2, l2=0.7), Box(0.01, 2.0)]
)
def test_a_power_step_never_raises_the_loss(loss, penalty):
    rng = np.random.default_rng(0)
    X, atoms = positive(30, 6), rng.random((4, 6)) + 0.01
    codes = penalty.prox(rng.random((30, 4)), 0.0)

    def objective(codes):
        return loss.value(X, codes @ atoms) + penalty.value(codes)

    for _ in range(20):
        plus, minus = (
            np.broadcast_to(part, X.shape) @ atoms.T for part in loss.split(X, codes @ atoms)
        )
        after = power_step(codes, plus, minus, loss.exponents, penalty)
        assert (objective(after) <= objective(codes) * (1 + 1e-9) + 1e-9).all()
        codes = after


@pytest.mark.cover(2)
@parametrize
@pytest.mark.parametrize("penalty", [Simplex(), Simplex(2.0), NonnegativeBall()])
def test_a_power_step_on_coupled_rows_never_raises_the_loss_and_stays_inside(loss, penalty):
    rng = np.random.default_rng(0)
    X, codes = positive(30, 6), rng.random((30, 4)) + 0.01
    atoms = penalty.normalize(rng.random((4, 6)))
    for _ in range(20):
        before = loss.value(X, codes @ atoms).sum()
        plus, minus = (
            codes.T @ np.broadcast_to(part, X.shape) for part in loss.split(X, codes @ atoms)
        )
        atoms = power_step(atoms, plus, minus, loss.exponents, penalty)
        assert np.isfinite(penalty.value(atoms)).all()
        assert loss.value(X, codes @ atoms).sum() <= before * (1 + 1e-9)


@pytest.mark.cover(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "updater"),
    [(name, "auto") for name in LOSS_NAMES]
    + [(name, "spsg") for name in LOSS_NAMES if name != "trimmed"],
)
def test_learning_by_name_lowers_the_objective(name, updater, room):
    X = positive()
    model = OnlineNMF(4, loss=name, updater=updater, batch_size=30, n_epochs=1, random_state=0).fit(
        X
    )
    first = model.objective(X)
    for _ in range(20):
        for start in range(0, 120, 30):
            model.partial_fit(X[start : start + 30])
    room.fall(model.objective(X), first, at_least=0.003)
    assert np.isfinite(model.transform(X)).all()


def test_subgradient_steps_refuse_a_loss_that_moves_with_its_scale():
    model = OnlineNMF(4, loss="trimmed", updater="spsg")
    with pytest.raises(IncompatiblePartsError, match="SubgradientStep needs a loss that is fixed"):
        model.fit(positive())


def test_sparse_counts_give_the_same_model_as_dense_ones():
    X = counts()
    dense = OnlineNMF(4, loss="kl", batch_size=30, n_epochs=3, random_state=0).fit(X)
    sparse = OnlineNMF(4, loss="kl", batch_size=30, n_epochs=3, random_state=0).fit(sp.csr_array(X))
    assert_allclose(sparse.components_, dense.components_, rtol=1e-6, atol=1e-9)
    assert_allclose(sparse.transform(sp.csr_array(X)), dense.transform(X), rtol=1e-5, atol=1e-6)


CONVEX = [loss for loss in SPLIT if loss.convex and not isinstance(loss, L1)]


@pytest.mark.cover(2)
@pytest.mark.slow
@pytest.mark.parametrize("loss", CONVEX, ids=repr)
@pytest.mark.parametrize(
    "penalty", [Nonnegative(), Nonnegative(l1=0.3, l2=0.2), Box(0.0, 0.8), Simplex(2.0)]
)
def test_exact_codes_are_the_best_ones(loss, penalty):
    X, atoms = positive(8, 6), np.random.default_rng(1).random((3, 6)) + 0.05
    objective, dictionary = Objective(loss, penalty, Free()), Rows(atoms)
    codes = Multiplicative().encode(Batch(X), dictionary, objective, Accuracy(gap=1e-10))
    assert codes.residual.max() <= 1e-10
    values = objective.values(Batch(X), codes.values, dictionary)
    total = [{"type": "eq", "fun": lambda h: h.sum() - 2}] if penalty.shape.total else []
    bounds = [(1e-9, min(penalty.shape.high, 1e6))] * 3
    for x, value in zip(X, values, strict=True):
        for start in ([0.5, 0.5, 0.5], [1.8, 0.1, 0.1]):
            best = minimize(
                lambda h, x=x: float(
                    objective.loss.value(x[None], h[None] @ atoms)[0]
                    + penalty.elastic_net(h[None])[0]
                ),
                np.clip(start, 1e-9, bounds[0][1]),
                bounds=bounds,
                constraints=total,
                options={"maxiter": 500},
            )
            assert value <= best.fun + 1e-6 * (1 + abs(best.fun))


def test_one_multiplier_per_row_also_where_the_gradient_is_uneven():
    found = power_step(
        np.array([[0.5, 0.5]]),
        np.array([[0.0, 10.0]]),
        np.array([[1.0, 1.0]]),
        (1.0, 0.0),
        Simplex(),
    )
    multiplier = 0.5 / found[0, 0]
    assert_allclose(found, [[0.5 / multiplier, 0.5 / (10 + multiplier)]], rtol=1e-9)
    assert_allclose(found.sum(), 1.0)


@pytest.mark.parametrize("loss", ["kl", "hellinger"])
@pytest.mark.parametrize("penalty", [Simplex(3.0), Nonnegative(l1=0.2, l2=0.5), Box(0.1, 4.0)])
def test_stored_entries_alone_give_the_codes_of_all(loss, penalty):
    X, atoms = counts(30, 12), np.random.default_rng(0).random((4, 12)) * [[1], [5], [0.2], [2]]
    X[0] = 0
    objective = Objective(resolve_loss(loss), penalty, Free())
    for accuracy in (Accuracy(0.05), Accuracy(gap=1e-9)):
        dense, sparse = (
            Multiplicative().encode(Batch(data), Rows(atoms), objective, accuracy).values
            for data in (X, sp.csr_array(X))
        )
        assert_allclose(sparse, dense, rtol=1e-6, atol=1e-7)
        assert np.isfinite(penalty.value(sparse)).all()


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_codes_that_fall_in_each_call_stay_normal_numbers(stored):
    atoms = np.array([[1, 0, 0], [0.2, 0.4, 0.4]], np.float32)
    batch, dictionary = Batch(stored(np.tile(atoms[:1], (5, 1)))), Rows(atoms)
    objective, codes = Objective(KullbackLeibler(), Nonnegative(), Free()), np.ones((5, 2))
    codes[0, 1] = 0
    for _ in range(100):
        found = Multiplicative().encode(batch, dictionary, objective, Accuracy(0.01), codes)
        codes = found.values
        assert (codes[1:] > 1e-30).all()
    assert codes[0, 1] == 0  # codes that are sparse stay so
    assert_allclose(codes, [[1, 0]] * 5, atol=1e-6)


def test_sparse_counts_never_become_dense():
    rng = np.random.default_rng(0)
    X = sp.random_array(
        (1000, 20_000), density=0.002, rng=rng, data_sampler=lambda size: rng.integers(1, 5, size)
    )
    X = sp.csr_array(X, dtype=np.float32)  # 80 MB, were it dense
    OnlineNMF(5, loss="kl", batch_size=250, n_epochs=1, random_state=0).fit(X[:300])
    tracemalloc.start()
    model = OnlineNMF(5, loss="kl", batch_size=1000, n_epochs=1, random_state=0).fit(X)
    model.transform(X)
    model.objective(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


@pytest.mark.cover(2)
@pytest.mark.parametrize("loss", ["kl", "is", "huber:0.5", "l2", "beta:1.5"])
def test_missing_entries_are_not_looked_at(loss, room):
    X = positive(80, 8)
    holes = np.random.default_rng(0).random(X.shape) < 0.2
    holes[3] = True
    seen = np.where(holes, np.nan, X)
    settings = {
        "loss": loss,
        "missing": True,
        "batch_size": 20,
        "n_epochs": 5,
        "random_state": 0,
        "ridge": 1e-3,
    }
    model = OnlineNMF(3, **settings).fit(seen)
    filled = model.impute(seen)
    assert_allclose(filled[~holes], X[~holes])
    assert np.isfinite(filled).all()
    means = np.where(holes, np.nanmean(seen, axis=0), X)
    room.fall(np.abs(filled - X)[holes].mean(), np.abs(means - X)[holes].mean(), at_least=0.1)
    whole, bare = (
        OnlineNMF(3, **(settings | {"missing": flag})).fit(X).components_ for flag in (True, False)
    )
    assert_allclose(whole, bare)
    assert np.isfinite(model.score(seen))


@pytest.mark.parametrize(
    "settings",
    [{"loss": "kl"}, {"loss": Beta(1)}, {"loss": "huber:2", "updater": "spsg"}],
    ids=repr,
)
def test_a_saved_model_goes_on_to_the_bit(settings, tmp_path):
    X = positive()
    model = OnlineNMF(4, random_state=0, **settings).partial_fit(X[:40])
    atomstream.save(model, tmp_path / "model.atoms")
    again = atomstream.load(tmp_path / "model.atoms")
    for start in (40, 80):
        model.partial_fit(X[start : start + 40])
        again.partial_fit(X[start : start + 40])
    assert_array_equal(again.components_, model.components_)
    assert_array_equal(again.transform(X), model.transform(X))


def test_another_loss_is_refused_after_the_first_step():
    X = positive()
    model = OnlineNMF(3, loss="l1", random_state=0).partial_fit(X)
    before = model.components_
    for changed in ({"loss": "l2"}, {"loss": "l1", "updater": "spsg"}):
        with pytest.raises(ValueError, match="call fit to start over"):
            model.set_params(**changed).partial_fit(X)
    assert model.components_ is not None
    assert_array_equal(model.components_, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_itakura_saito_is_finite_on_the_smallest_numbers(dtype):
    least = np.finfo(dtype).smallest_subnormal
    X = positive(40, 6).astype(dtype)
    X[::7, 2], X[3], X[5, 1] = least, least, 0
    X[5, 2:] = least  # a mean of which the share that raises zeros is no number
    model = OnlineNMF(3, loss="is", random_state=0, n_epochs=2).fit(X)
    assert np.isfinite(model.losses(X)).all()
    assert np.isfinite([model.objective(X), model.score(X), model.surrogate()]).all()


def test_zeros_are_raised_in_proportion_or_refused():
    X = positive(60, 6)
    X[5, 2] = 0
    model = OnlineNMF(3, loss="is", random_state=0, n_epochs=5).fit(X)
    small = OnlineNMF(3, loss="is", random_state=0, n_epochs=5).fit(1e-9 * X)
    assert_allclose(small.objective(1e-9 * X), model.objective(X), rtol=1e-6)
    with pytest.raises(ValueError, match=r"contains zeros .first in row 5, column 2, .*zeros='fl"):
        OnlineNMF(3, loss=ItakuraSaito(zeros="refuse")).fit(X)
    with pytest.raises(ValueError, match=r"zeros to be floor or refuse, got 'never'"):
        ItakuraSaito(zeros="never")
    assert OnlineNMF(3, loss="kl", random_state=0).fit(X)._batch(X).X[5, 2] == 0


@pytest.mark.parametrize("loss", ["kl", "is", "alpha:2", "beta:0.5", "beta:1.5", "huber:1", "l1"])
def test_rows_and_columns_of_zeros_do_no_harm(loss):
    X = positive(80, 8)
    X[0], X[:, 3] = 0, 0
    model = OnlineNMF(3, loss=loss, batch_size=20, n_epochs=3, random_state=0).fit(X)
    assert np.isfinite([model.score(X), model.objective(X), model.surrogate()]).all()
    assert np.isfinite(model.components_).all()
    X[40:, 3] = X[40:, 4]  # a feature that comes late
    for _ in range(30):
        model.partial_fit(X[40:])
    assert model.components_[:, 3].max() > 0.01 * model.components_.max()


@pytest.mark.parametrize("loss", ["huber:0.5", "beta:1.5"])
def test_large_sparse_batches_are_measured_a_block_at_a_time(loss):
    X, weights = counts(2500, 8), np.random.default_rng(0).random(2500)
    dense, sparse = (
        OnlineNMF(3, loss=loss, init="samples", random_state=0).partial_fit(
            data, sample_weight=weights
        )
        for data in (X, sp.csr_array(X))
    )
    assert_allclose(sparse.components_, dense.components_, rtol=1e-7, atol=1e-10)
    assert_allclose(sparse.surrogate(), dense.surrogate(), rtol=1e-9)


@pytest.mark.parametrize(
    "loss", ["kl", "is", "hellinger", "beta:1.5", "alpha:-1", "huber:1", "l1", "l2"]
)
def test_known_atoms_may_hold_zeros(loss):
    X = positive(60, 6)
    atoms = np.random.default_rng(0).random((4, 6))
    atoms[0], atoms[1:, 2] = 0, 0
    model = OnlineNMF.from_components(atoms, loss=loss)
    for _ in range(20):
        model.partial_fit(X)
    assert np.isfinite(model.components_).all()
    assert np.isfinite([model.surrogate(), model.objective(X)]).all()


def test_weights_may_be_huge_or_tiny():
    X = counts(60, 10).astype(np.float32)
    plain = OnlineNMF(3, loss="kl", n_epochs=2, random_state=0).fit(X)
    for weight in (1e40, 1e-40):
        weighted = OnlineNMF(3, loss="kl", n_epochs=2, random_state=0).fit(
            X, sample_weight=np.full(60, weight)
        )
        assert_allclose(weighted.components_, plain.components_, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    "loss", [loss for loss in SPLIT if loss.reconstruction == "positive"], ids=repr
)
def test_scaling_atoms_and_past_codes_leaves_the_surrogate(loss):
    X = positive()
    model = OnlineNMF(3, loss=loss, updater="majorise", random_state=0, n_epochs=1).fit(X)
    if isinstance(model.memory_, Majorants):
        scale, before = np.array([2.0, 0.5, 3.0]), model.surrogate()
        model.memory_.rescale(scale)
        assert_allclose(
            model.memory_.value(Rows(model.components_ / scale[:, None])), before, rtol=1e-9
        )


def test_the_surrogate_stays_above_the_loss_at_stored_codes():
    X = positive(200)
    for loss in ("kl", "is", "hellinger", "huber:0.5", "l2"):
        model = OnlineNMF(
            4,
            loss=loss,
            batch_size=20,
            n_epochs=1,
            shuffle=False,
            schedule="harmonic",
            random_state=0,
        )
        stored = []
        for start in range(0, 200, 20):
            batch = Batch(X[start : start + 20])
            if start == 0:
                model.partial_fit(batch.X)
            else:
                codes, _ = model.algorithm_.step(batch, model.state_, model.clock_, None)
                stored.append((batch, codes.values))
        met = np.mean(
            [
                model.algorithm_.objective.values(b, h, model.state_.dictionary).mean()
                for b, h in stored
            ]
        )
        assert model.surrogate() >= 0.9 * met  # 180 of the 200 samples


def test_the_second_proposal_is_taken_where_atoms_are_alike(room):
    rng = np.random.default_rng(0)
    X = rng.poisson(
        (1 + np.abs(rng.normal(0, 5, (2000, 10)))) @ (1 + np.abs(rng.normal(0, 5, (10, 40))))
    ).astype(float)
    values = {}
    for updater in ("auto", "majorise"):
        model = OnlineNMF(
            10, loss="kl", updater=updater, batch_size=100, n_epochs=2, random_state=0
        ).fit(X)
        values[updater] = model.objective(X)
    room.fall(values["auto"], values["majorise"], at_least=0.1)


def test_outliers_are_what_goes_beyond_the_threshold(room):
    clean = 50 * positive(300, 40)
    wrong = np.random.default_rng(3).random(clean.shape) < 0.05
    X = clean + 1000 * wrong
    model = OnlineNMF(4, loss="huber:20", batch_size=50, n_epochs=30, random_state=0).fit(X)
    found = model.outliers(X)
    assert ((found > 0) == (np.abs(X - model.clean(X)) > 20)).all()
    room.share(
        (found[wrong] > 500).mean(), at_least=0.85
    )  # where several stand in a row, codes lean towards them
    plain = OnlineNMF(4, batch_size=50, n_epochs=30, random_state=0).fit(X)
    room.error(
        np.abs(model.clean(X) - clean).mean(), at_most=0.5 * np.abs(plain.clean(X) - clean).mean()
    )
    with pytest.raises(
        ValueError, match="outliers needs the threshold of loss='trimmed' or 'huber', got Squared"
    ):
        plain.outliers(X)


class StoredObjective(History):
    """The mean loss of all rows so far at their stored codes: Zhao, Tan, Xu (2017), eq. (17)."""

    def setup(self, estimator, context):
        super().setup(estimator, context)
        self.known = {}

    def note(self, estimator):
        progress = estimator._progress
        self.known |= zip(
            progress.batch.ids,
            zip(progress.batch.X, progress.codes.values, strict=True),
            strict=True,
        )
        X, codes = map(np.array, zip(*self.known.values(), strict=True))
        objective, dictionary = estimator.algorithm_.objective, estimator.state_.dictionary
        self.n_samples.append(estimator.n_samples_seen_)
        self.objective.append(float(objective.losses(Batch(X), codes, dictionary).mean()))


def test_the_objective_at_stored_codes_falls_and_bounds_that_at_optimal_ones(room):
    X = positive(90)
    history = StoredObjective()
    model = OnlineNMF(4, loss="kl", batch_size=30, n_epochs=10, random_state=0)
    model.set_callbacks(history).fit(X)
    assert history.n_samples == list(range(30, 901, 30))
    assert history.objective[-1] >= model.objective(X) - 1e-9
    met_all = history.objective[2]
    room.fall(history.objective[-1], met_all, at_least=0.15)


def test_members_of_families_are_the_losses_they_are():
    assert resolve_loss("beta:2") == Squared()
    assert resolve_loss(Beta(1)) == KullbackLeibler()
    assert resolve_loss("alpha:0.5") == Hellinger()
    assert resolve_loss("huber:30") == Huber(30.0)
    for wrong, sentence in {
        "beta": "is a family; name its member, as in beta:0.5",
        "beta:x": "needs a number after the colon",
        "huber:-1": "Huber needs delta to be a number above 0",
        "gamma:1": "is unknown; choose one of hellinger, huber, is, kl, l1, l2, squared, trimmed, "
        "alpha:NUMBER",
    }.items():
        with pytest.raises(ValueError, match=sentence):
            OnlineNMF(3, loss=wrong).fit(positive())


def test_the_command_line_learns_under_a_divergence(tmp_path):
    X = counts(300, 20)
    sp.save_npz(tmp_path / "counts.npz", sp.csr_matrix(X))
    run = str(tmp_path / "run")
    words = ["learn", str(tmp_path / "counts.npz"), "--loss"]
    assert main([*words, "kl", "--atoms", "4", "--epochs", "1", "--out", run]) == 0
    model = atomstream.load(run)
    assert model.loss == "kl"
    assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-6)
    assert main(["resume", run, "--epochs", "2"]) == 0
    assert (
        main(["learn", str(tmp_path / "counts.npz"), "--loss", "beta:0.5", "--out", run + "2"]) == 0
    )
    assert main(["learn", str(tmp_path / "counts.npz"), "--loss", "beta", "--out", run + "3"]) == 2


def test_the_smallest_numbers_have_a_finite_divergence():
    tiny = np.array([[1e-323, 1.0]])
    assert KullbackLeibler().value(tiny, np.array([[50.0, 1.0]]))[0] == 50.0
    assert Alpha(0.0).value(np.array([[50.0, 1.0]]), tiny)[0] == 50.0
    assert KullbackLeibler().value(tiny, np.array([[0.0, 1.0]]))[0] == np.inf
