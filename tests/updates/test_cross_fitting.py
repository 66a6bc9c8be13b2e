"""Cross-fitting: features are explained by codes that have not seen them."""

from contextlib import nullcontext
from itertools import count

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer

from atomstream import OnlineNMF
from atomstream.coders import Multiplicative
from atomstream.dictionaries.rows import Rows
from atomstream.exceptions import DataWarning, IncompatiblePartsError
from atomstream.loop import whole_features
from atomstream.loop.explaining import cross_fit
from atomstream.loop.online import Algorithm
from atomstream.losses import L1, L2, Hellinger, Huber, KullbackLeibler
from atomstream.memory.majorant import MajorantSums
from atomstream.memory.majorant_delta import MajorantDelta
from atomstream.penalties import Nonnegative
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy
from atomstream.problem.objective import Objective
from atomstream.updates import Majorise

N_ATOMS, N_FEATURES = 4, 40


def contaminated(n_samples, share):
    """Return rows with outliers, the same rows without them, and the atoms they are made of."""
    rng = np.random.default_rng(0)
    atoms = rng.gamma(0.5, 1.0, (N_ATOMS, N_FEATURES))
    clean = rng.gamma(1.0, 1.0, (n_samples, N_ATOMS)) @ atoms
    wrong = rng.random(clean.shape) < share
    return np.maximum(clean + wrong * rng.uniform(-8, 8, clean.shape), 0), clean, atoms


@pytest.mark.parametrize("loss", [Huber(1.0), Hellinger(), KullbackLeibler()])
def test_parts_measured_at_the_same_codes_add_up_to_the_whole(loss):
    X, _, atoms = contaminated(30, 0.2)
    rng = np.random.default_rng(1)
    batch, dictionary = Batch(X, weights=rng.random(30)), Rows(atoms)
    objective = Objective(loss, Nonnegative(), Nonnegative())
    codes = Multiplicative().encode(batch, dictionary, objective, Accuracy(0.1))
    whole = MajorantSums().measure(batch, codes, dictionary, objective)
    parts = [np.sort(part) for part in np.array_split(rng.permutation(N_FEATURES), 4)]
    deltas = [
        MajorantSums().measure(batch.on(part), codes, dictionary.on(part), objective)
        for part in parts
    ]
    joined = MajorantDelta.across(parts, deltas, batch.mass)
    for name in ("plus", "minus", "curvature", "gram", "constant", "usage", "objective", "atoms"):
        assert_allclose(getattr(joined, name), getattr(whole, name), rtol=1e-12, err_msg=name)
    assert joined.mass == whole.mass


@pytest.mark.parametrize("folds", [2, 3])
def test_an_entry_has_no_say_in_the_codes_that_explain_it(folds):
    X, _, atoms = contaminated(20, 0.2)
    objective = Objective(Huber(1.0), Nonnegative(), Nonnegative())
    algorithm = Algorithm(objective, Multiplicative(), Majorise(folds=folds))

    def fit(X):
        return cross_fit(Batch(X), Rows(atoms), algorithm, Accuracy(), np.random.default_rng(2))

    _, _, before = fit(X)
    assert_array_equal(np.sort(np.concatenate([item.features for item in before])), range(40))
    wrong = X.copy()
    feature = before[0].features[3]
    wrong[:, feature] += 100
    _, _, after = fit(wrong)
    assert_array_equal(after[0].codes.values, before[0].codes.values)
    assert np.abs(after[1].codes.values - before[1].codes.values).max() > 0.01


@pytest.mark.parametrize("loss", [Huber(1.0), L1(), L2()])
def test_robust_losses_learn_cross_fitted_unless_features_are_few(loss):
    X, _, _ = contaminated(64, 0.2)
    model = OnlineNMF(N_ATOMS, loss=loss, random_state=0).partial_fit(X)
    assert model.algorithm_.updater == Majorise(folds=2)
    whole = OnlineNMF(N_ATOMS, loss=loss, updater=Majorise(), random_state=0).partial_fit(X)
    assert np.abs(model.components_ - whole.components_).max() > 1e-3
    few = X[:, : 4 * N_ATOMS - 1]
    model, whole = (
        OnlineNMF(N_ATOMS, loss=loss, updater=updater, init="svd", random_state=0).partial_fit(few)
        for updater in ("auto", Majorise())
    )
    assert_array_equal(model.components_, whole.components_)


def test_missing_entries_and_sparse_rows_are_cross_fitted_too(room):
    import scipy.sparse as sp

    X, clean, _ = contaminated(400, 0.1)
    holes = np.random.default_rng(3).random(X.shape) < 0.2
    model = OnlineNMF(N_ATOMS, loss="huber", missing=True, random_state=0, batch_size=50)
    filled = model.fit(np.where(holes, np.nan, X)).clean(np.where(holes, np.nan, X))
    mean = np.sqrt(np.mean((clean.mean(axis=0) - clean)[holes] ** 2))
    room.error(np.sqrt(np.mean((filled - clean)[holes] ** 2)), at_most=0.5 * mean)
    dense, sparse = (
        OnlineNMF(N_ATOMS, loss="huber", init="samples", random_state=0).partial_fit(rows)
        for rows in (X, sp.csr_array(X))
    )
    assert_allclose(dense.components_, sparse.components_, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "fall"),
    [
        ("l1", 0.25),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (("huber:30", -0.4), ("l2", 0.2))
        ),
    ],
)
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.long) for s in (1, 2))])
def test_more_passes_over_outliers_do_not_move_atoms_away_from_clean_rows(loss, fall, seed, room):
    """The data of Zhao, Tan and Xu, section VII-B, smaller: dense atoms, all much alike."""
    rng = np.random.default_rng(seed)
    atoms, codes = (1 + np.abs(rng.normal(0, 5, shape)) for shape in [(10, 100), (2_000, 10)])
    clean = codes @ atoms
    wrong = rng.random(clean.shape) < 0.3
    X = np.clip(clean + wrong * rng.uniform(-600, 600, clean.shape), 0, 1_000)

    def errors(updater):
        model, found = OnlineNMF(10, loss=loss, updater=updater, random_state=seed), []
        for n_passes in range(6):
            horizon = np.inf if n_passes == 0 else 2_000.0
            batches = (X[start : start + 200] for start in range(0, 2_000, 200))
            model.fit_stream(batches, horizon=horizon)
            found.append(np.sqrt(np.mean((model.clean(X[:200]) - clean[:200]) ** 2)))
        return found

    found = errors("auto")
    # By chance single passes differ by 2 %.
    room.ratio(found[-1] / min(found), at_most=1.03)
    room.ratio(found[-1] / found[0], at_most=1.01)
    room.ratio(np.mean(found[3:]) / np.mean(found[:3]), at_most=1.015)
    plain = errors(Majorise())[-1]
    if fall < 0:  # no better than without cross-fitting, and not much worse
        room.ratio(found[-1] / plain, at_most=1 - fall)
    else:
        room.fall(found[-1], plain, at_least=fall)


def test_a_row_that_only_one_part_has_seen_weighs_in_the_batch_and_harms_nothing():
    X, _, _ = contaminated(200, 0.1)
    model = OnlineNMF(N_ATOMS, loss="huber", missing=True, random_state=0).partial_fit(X)
    before = model.clock_.mass
    model.partial_fit(np.where(np.arange(N_FEATURES) == 5, X[:1], np.nan))
    assert model.clock_.mass == before + 1
    assert np.isfinite(model.components_).all()
    few = np.where(np.random.default_rng(4).random(X.shape) < 0.06, X, np.nan)
    model.partial_fit(few)
    assert model.clock_.mass == before + 1 + (~np.isnan(few)).any(axis=1).sum()


@pytest.mark.parametrize("net", [{"l1": 1.0}, {"l2": 0.5}])
def test_a_penalty_weighs_as_much_as_the_features_that_a_code_is_found_on(net):
    X, _, atoms = contaminated(30, 0.0)
    batch, rows, loss = Batch(X), Rows(atoms), Huber(1.0)
    whole, half = (
        Objective(
            loss, Nonnegative(**{name: share * value for name, value in net.items()}), Nonnegative()
        )
        for share in (1.0, 0.5)
    )
    algorithm = Algorithm(whole, Multiplicative(), Majorise(folds=2))
    _, delta, latest = cross_fit(batch, rows, algorithm, Accuracy(), np.random.default_rng(2))
    total = 0.0
    for item in latest:
        others = np.setdiff1d(np.arange(N_FEATURES), item.features)
        codes = Multiplicative().encode(batch.on(others), rows.on(others), half, Accuracy())
        assert_array_equal(item.codes.values, codes.values)
        total += half.values(item.batch, codes.values, rows.on(item.features)).sum()
    assert_allclose(delta.objective, total, rtol=1e-12)


def test_a_row_without_a_code_of_its_own_weighs_nothing():
    X, _, atoms = contaminated(10, 0.0)
    mask = np.ones(X.shape, bool)
    mask[3] = np.arange(N_FEATURES) == 5
    algorithm = Algorithm(
        Objective(Huber(1.0), Nonnegative(), Nonnegative()), Multiplicative(), Majorise(folds=2)
    )
    weights = np.arange(1.0, 11.0)
    _, delta, latest = cross_fit(
        Batch(X, weights, mask), Rows(atoms), algorithm, Accuracy(), np.random.default_rng(2)
    )
    assert delta.mass == weights.sum()
    for item in latest:
        assert_array_equal(item.batch.weights, np.where(np.arange(10) == 3, 0, weights))


def test_there_are_no_more_parts_than_features():
    X, _, _ = contaminated(60, 0.1)
    model = OnlineNMF(N_ATOMS, loss="huber", updater=Majorise(folds=50), random_state=0)
    assert np.isfinite(model.fit(X).components_).all()


def test_only_robust_losses_are_cross_fitted():
    X, _, _ = contaminated(60, 0.1)
    with pytest.raises(IncompatiblePartsError, match="folds=2 needs a robust loss, got Kullback"):
        OnlineNMF(N_ATOMS, loss="kl", updater=Majorise(folds=2)).fit(X)


def test_atoms_on_few_features_may_vanish_on_a_part():
    X, _, _ = contaminated(100, 0.1)
    atoms = np.zeros((2, N_FEATURES))
    atoms[0, 3] = atoms[1, 4] = 1
    for seed in range(8):
        model = OnlineNMF(2, loss="huber", init=atoms, n_epochs=1, random_state=seed).fit(X)
        assert np.isfinite(model.components_).all()


def test_folds_must_be_a_number_of_parts():
    with pytest.raises(ValueError, match="Majorise needs folds to be a whole number from 1"):
        Majorise(folds=0)


def sparse_gamma(amplitude):
    """Return rows of which three entries in ten are outliers, and unseen ones with clean ones."""
    rng = np.random.default_rng(7)
    atoms = rng.gamma(0.5, 1, (10, 80)) * (rng.random((10, 80)) < 0.6)
    clean = (rng.gamma(1.0, 1, (700, 10)) * (rng.random((700, 10)) < 0.6)) @ atoms
    wrong = rng.random(clean.shape) < 0.3
    X = clean + wrong * rng.uniform(-1, 1, clean.shape) * amplitude * clean.mean()
    return np.maximum(X, 1e-8)[:500], np.maximum(X, 1e-8)[500:], clean[500:]


@pytest.mark.parametrize("loss", ["l2", "trimmed"])
def test_rows_of_zeros_in_float32_are_learned_to_the_end(loss):
    rng = np.random.default_rng(0)
    X = rng.poisson(8 * rng.random((200, 3)) ** 3 @ rng.random((3, 12))).astype(np.float32)
    X[:120] = 0
    # What is no zero would be an outlier.
    told = pytest.warns(DataWarning, match="is trimmed") if loss == "trimmed" else nullcontext()
    with told:
        model = OnlineNMF(3, loss=loss, random_state=0).fit(X)
    assert np.isfinite(model.components_).all()
    assert model.components_.dtype == np.float32


@pytest.mark.filterwarnings("ignore:Column 23")
@pytest.mark.parametrize("loss", ["huber", "l1", "l2"])
def test_without_outliers_codes_of_all_features_lead_to_less(loss, room):
    """Two columns of this table have nearly all of its energy, and others tell little of them."""
    X = load_breast_cancer().data
    model = OnlineNMF(5, loss=loss, random_state=0).fit(X[::2])
    plain = OnlineNMF.from_components(
        np.maximum(OnlineNMF(5, random_state=0).fit(X[::2]).components_, 1e-9), loss=loss
    )
    room.ratio(model.score(X[1::2]) / plain.score(X[1::2]), at_most=2.0)


def left_of_clean_rows(X, clean, monkeypatch, n_atoms):
    """Return the error of atoms that rounds over whole features end, and of those without them."""
    errors = []
    for on in (True, False):
        if not on:
            monkeypatch.setattr(whole_features, "settle_on_whole_features", lambda *_: None)
        atoms = OnlineNMF(n_atoms, loss="huber", random_state=0).fit(X).components_
        judge = OnlineNMF.from_components(atoms, loss="l1")
        errors.append(np.sqrt(((judge.clean(clean) - clean) ** 2).mean()))
    monkeypatch.undo()
    return errors


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_rounds_over_whole_features_come_nearer_to_the_truth(share, room, monkeypatch):
    X, clean, _ = contaminated(600, share)
    with_them, without = left_of_clean_rows(X, clean, monkeypatch, N_ATOMS)
    room.error(with_them / without, at_most=1.0)


def test_rounds_that_would_learn_outliers_are_not_taken(monkeypatch):
    """Outliers of one sign and a hundred times an entry are what atoms of all features learn."""
    _, clean, _ = contaminated(600, 0.0)
    rng, falling = np.random.default_rng(0), count(0, -1)
    X = np.where(rng.random(clean.shape) < 0.1, rng.uniform(0, 400, clean.shape), clean)
    chosen, _ = left_of_clean_rows(X, clean, monkeypatch, N_ATOMS)
    monkeypatch.setattr(whole_features, "left_unseen", lambda *_: next(falling))  # all are taken
    forced, without = left_of_clean_rows(X, clean, monkeypatch, N_ATOMS)
    assert chosen == without < 0.8 * forced


def test_rounds_over_whole_features_end_with_the_time():
    X, _, _ = contaminated(600, 0.0)
    ten = OnlineNMF(N_ATOMS, loss="huber", n_epochs=10, random_state=0).fit(X)
    learner, asked = ten._learner, []
    before = learner.state.dictionary.atoms().copy()

    def late():
        asked.append(True)
        return len(asked) > 3

    parts = ([Batch(X)], learner.state, learner.algorithm, learner.clock)
    whole_features.settle_on_whole_features(*parts, np.random.default_rng(0), late)
    assert len(asked) == 4
    assert_array_equal(learner.state.dictionary.atoms(), before)
