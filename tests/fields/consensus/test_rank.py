"""How many atoms, and which is which."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment

from atomstream import (
    ConsensusNMF,
    OnlineCPDictionary,
    OnlineDictionaryLearning,
    OnlineNMF,
    align,
    choose_rank,
    plots,
)
from atomstream.dictionaries.matching import assigned
from atomstream.fields.consensus.rank_choice import choose, reproducible
from atomstream.streams import windows


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (7, 3), (0, 2), (2, 0)])
def test_the_best_pairs_are_those_of_the_hungarian_method(shape):
    rng = np.random.default_rng(0)
    for _ in range(50):
        values = rng.integers(-3, 4, shape).astype(float)  # with ties
        for table in (values, values + rng.random(shape)):
            rows, columns = assigned(table)
            best = linear_sum_assignment(table, maximize=True)
            assert_array_equal((rows, columns), best)
    with pytest.raises(ValueError, match="invalid numeric"):
        assigned(np.array([[np.nan, 1.0], [1.0, 0.0]]))


def test_dictionaries_that_hardly_differ_are_matched_without_a_search(monkeypatch):
    """What searches takes a fifth of the time of a short run to load."""
    monkeypatch.setattr("scipy.optimize.linear_sum_assignment", None)
    atoms = np.random.default_rng(0).random((6, 10)) + 5 * np.eye(6, 10)
    assert_array_equal(align(atoms, atoms[::-1] + 0.1).order, np.arange(6)[::-1])


def test_a_permuted_scaled_dictionary_is_recognised():
    rng = np.random.default_rng(0)
    atoms, order = rng.random((6, 10)), rng.permutation(6)
    other = (atoms * rng.uniform(0.1, 3, (6, 1)))[order]
    found = align(atoms, other)
    assert_array_equal(order[found.order], np.arange(6))
    assert_allclose(found.similarity, 1)
    assert found.stability == pytest.approx(1)


def test_signs_are_free_where_atoms_are_signed():
    rng = np.random.default_rng(1)
    atoms = rng.standard_normal((5, 20))
    signs = np.array([1, -1, -1, 1, -1.0])
    found = align(atoms, atoms * signs[:, None])
    assert_array_equal(found.order, np.arange(5))
    assert_array_equal(found.sign, signs)
    assert_allclose(found.similarity, 1)


def test_the_matching_has_the_largest_sum_of_all():
    from itertools import permutations

    rng = np.random.default_rng(2)
    a, b = rng.random((4, 3)), rng.random((4, 3))
    cosines = (a / np.linalg.norm(a, axis=1)[:, None]) @ (b / np.linalg.norm(b, axis=1)[:, None]).T
    best = max(sum(cosines[i, p[i]] for i in range(4)) for p in permutations(range(4)))
    assert align(a, b).similarity.sum() == pytest.approx(best)


def test_dictionaries_of_other_sizes_leave_atoms_without_a_partner():
    found = align(np.eye(4), np.eye(4)[[2, 0]])
    assert_array_equal(found.order, [1, -1, 0, -1])
    assert found.stability == 1
    assert_array_equal(align(np.eye(4)[:2], np.eye(4)).order, [0, 1])
    with pytest.raises(ValueError, match="4 and 3 features"):
        align(np.eye(4), np.eye(3))
    with pytest.raises(ValueError, match="must be a fitted model or of shape"):
        align(np.ones(3), np.eye(3))


QUICK = OnlineNMF(n_epochs=8)


@pytest.mark.slow
@pytest.mark.parametrize("rank", [2, 4])
def test_the_rank_of_data_is_found_and_its_atoms_are_stable(rank, room, seeds):
    choices = []
    for seed in seeds:
        rng = np.random.default_rng(10 * seed + rank)
        parts = rng.random((rank, 16)) * (rng.random((rank, 16)) < 0.5)
        X = rng.exponential(size=(250, rank)) @ parts + 0.05 * rng.random((250, 16))
        choices.append(choose_rank(X, range(1, 6), model=QUICK, random_state=0, n_seeds=10))
    room.error(abs(np.median([choice.rank for choice in choices]) - rank), at_most=1.5)
    choice = choices[0]
    assert choice.errors.shape == choice.similarities.shape == (5, 10)
    room.share(choice.stability[rank - 1], at_least=0.85)
    room.error(choice.error[rank - 1], at_most=0.5 * choice.error[rank - 2])
    assert [row["rank"] for row in choice.table if row["chosen"]] == [choice.rank]
    figure = plots.rank(choice)
    line = figure.axes[0].lines[0]
    assert_array_equal(line.get_ydata(), choice.error)


@pytest.mark.slow
def test_noise_that_is_uniform_and_not_centred_adds_no_atoms():
    rng = np.random.default_rng(0)
    parts = rng.random((5, 40)) * (rng.random((5, 40)) < 0.5)
    X = rng.exponential(size=(1200, 5)) @ parts + 0.05 * rng.random((1200, 40))
    assert choose_rank(X, [4, 5, 6, 8], model=QUICK, random_state=0).rank == 5


RANKS = np.array([1, 2, 3, 4])
STEADY = np.ones(4)


def errors_of(*means, spread=1.0, n_rows=400, seed=0):
    """Rows that differ much from each other, and little from rank to rank."""
    rng = np.random.default_rng(seed)
    rows = 50 * rng.random(n_rows)
    noise = spread * rng.standard_normal((len(means), n_rows))
    noise -= noise.mean(axis=1, keepdims=True)
    return rows + np.array(means)[:, None] + noise


def test_differences_count_by_their_own_standard_error():
    """One error of the differences is sqrt(2) / 20 = 0.07; the errors themselves vary by 0.7."""
    baseline = errors_of(1.0)[0]
    assert choose(RANKS, errors_of(5, 1, 0.97, 1.5), STEADY, baseline + 9) == 2
    assert choose(RANKS, errors_of(5, 1, 0.80, 1.5, spread=0.1), STEADY, baseline + 1) == 3


def test_an_atom_must_be_worth_a_twentieth_of_the_others():
    baseline = errors_of(0.0)[0]
    worth = errors_of(-10, -20, -20.4, -19, spread=0.01)  # 0.4 of 6.8 on average
    assert choose(RANKS, worth, STEADY, baseline) == 3
    worth = errors_of(-10, -20, -20.3, -19, spread=0.01)
    assert choose(RANKS, worth, STEADY, baseline) == 2


def test_of_ranks_that_are_as_good_a_steadier_one_is_taken():
    errors, baseline = errors_of(5, 1, 1, 1, spread=0.1), errors_of(20.0)[0]
    assert choose(RANKS, errors, np.array([1, 0.8, 0.95, 0.99]), baseline) == 3
    assert choose(RANKS, errors, np.array([1, 0.95, 0.96, 0.99]), baseline) == 2


def test_a_number_that_comes_back_must_not_predict_hidden_entries_worse_than_a_smaller_one():
    """One error of the differences is 0.1 sqrt(2) / 20 = 0.007."""
    back = np.array([True, True, False, True])
    assert reproducible(RANKS, back, errors_of(5, 1, 1.2, 1.004, spread=0.1)) == 4
    assert reproducible(RANKS, back, errors_of(5, 1, 1.2, 1.05, spread=0.1)) == 2
    # Atoms that are lacking make errors larger, too: that leaves no number out.
    assert reproducible(RANKS, back, errors_of(5, 4, 1, 1.5, spread=0.1)) == 2
    assert reproducible(RANKS, ~back, errors_of(5, 1, 1.2, 1, spread=0.1)) is None


def found_of(X, ranks=(2, 3), **settings):
    return choose_rank(X, ranks, model=QUICK, random_state=0, n_seeds=10, **settings)


def test_the_edge_of_what_was_tried_is_told():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(150, 4)) @ rng.random((4, 12)) ** 3
    assert "the largest that was tried, so try larger ones" in found_of(X).reason
    X = rng.exponential(size=(150, 1)) @ rng.random((1, 12)) + 0.2 * rng.random((150, 12))
    assert "the smallest that was tried, so try smaller ones" in found_of(X, [3, 4]).reason


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_are_independent_have_no_structure(seed):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(200, 10)) * rng.random(10)
    choice = choose_rank(X, [2, 3], model=QUICK, random_state=seed)
    assert choice.structured is False
    assert choice.reason.startswith("The data show no structure beyond columns that vary")
    assert f"the {choice.rank} atoms chosen here describe noise" in choice.reason


def test_size_is_no_structure_although_atoms_predict():
    rng = np.random.default_rng(0)
    X = rng.lognormal(0, 1, (120, 1)) * rng.random(12) * rng.gamma(8, 1 / 8, (120, 12))
    choice = found_of(X)
    assert choice.structured is False
    assert choice.predicts
    assert choice.reason.startswith("The data show no structure beyond one profile, times the size")
    assert "predicted better by" in choice.reason


def test_of_few_rows_nothing_is_said_of_structure():
    """A replicate leaves out a tenth of the rows: of 20 rows two judge it."""
    rng = np.random.default_rng(0)
    choice = found_of(rng.exponential(size=(20, 3)) @ rng.random((3, 10)))
    assert choice.structured is None
    assert "at least 30 rows are needed, got 20" in choice.reason
    assert "no structure" not in choice.reason
    assert "mean nothing" not in choice.reason


def uneven_gradient(seed):
    """Sites along a gradient, of which the counts of species vary more than Poisson counts."""
    rng = np.random.default_rng(seed)
    place, centre, width = rng.random(70), rng.random(35), rng.uniform(0.15, 0.45, 35)
    means = 3 * rng.lognormal(0, 1.2, 35) * np.exp(-(((place[:, None] - centre) / width) ** 2))
    X = rng.negative_binomial(0.5, 0.5 / (0.5 + means + 1e-9)).astype(float)
    return X[X.any(axis=1)][:, X.any(axis=0)]


@pytest.mark.slow
def test_structure_that_does_not_predict_is_structure_and_what_to_try_is_told(seeds):
    for seed in seeds:
        model = OnlineNMF(loss="kl")
        choice = choose_rank(uneven_gradient(1 + seed), [2, 3, 4], model=model, random_state=0)
        assert choice.structured
        assert not choice.predicts
        assert "no structure" not in choice.reason
        assert "the means of the columns" in choice.reason
        assert f"{choice.baseline:.3g}" in choice.reason
        assert "Counts vary" in choice.reason
        assert "np.sqrt(X / X.sum(axis=1, keepdims=True))" in choice.reason
        assert "loss='hellinger'" in choice.reason


@pytest.mark.slow
@pytest.mark.long
def test_other_seeds_choose_within_the_spread(room):
    """Under Kullback-Leibler the number moves from seed to seed where rows are few and uneven."""
    inside = []
    for seed in (0, 1):
        X, model = uneven_gradient(10 + seed), OnlineNMF(loss="kl", n_epochs=3)
        settings = [{"random_state": n, "model": model} for n in range(4)]
        found = [choose_rank(X, [2, 3, 4, 5], **each) for each in settings]
        for choice in found:
            low, high = choice.spread
            assert low <= choice.rank <= high
            inside += [low <= other.rank <= high for other in found if other is not choice]
            assert f"{low} and {high}" in choice.reason or f"number is {low}." in choice.reason
    room.share(np.mean(inside), at_least=0.75)


def test_what_is_said_of_unsteady_atoms_can_be_done():
    """``choose_rank`` has no ``bootstrap``: the model that has it is named."""
    choice = found_of(np.random.default_rng(0).random((60, 12)), [6, 7])
    assert "bootstrap=False" not in choice.reason.replace("ConsensusNMF(bootstrap=False)", "")
    X = np.random.default_rng(0).exponential(size=(60, 8)) @ np.random.default_rng(1).random(
        (8, 12)
    )
    assert "ConsensusNMF(bootstrap=False)" in found_of(X, [11, 12]).reason


def test_the_number_that_is_chosen_is_the_one_that_is_told():
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.5, 20, (100, 3)) @ rng.dirichlet(np.full(20, 0.2), 3)).astype(float)
    choice = choose_rank(X, [2, 3, 4], model=OnlineNMF(loss="kl"), random_state=0)
    assert choice.rule == "reproducibility"
    assert f"; {choice.rank} is chosen." in choice.reason
    assert f"{choice.rank} atoms" in choice.reason


def test_a_verdict_changes_nothing_that_is_learned(monkeypatch):
    X = np.random.default_rng(0).random((60, 8))
    models = [ConsensusNMF([2, 3], n_replicates=4, random_state=0) for _ in range(2)]
    first = models[0].fit(X)
    states = [each.random_state for each in first.replicates_[2]]
    monkeypatch.setattr(
        "atomstream.fields.consensus.ensemble.judge", lambda *_: first.choice_.verdict
    )
    second = models[1].fit(X)
    assert_array_equal(first.components_, second.components_)
    assert states == [each.random_state for each in second.replicates_[2]]


def test_all_entries_of_a_seed_are_the_same_again():
    X = np.random.default_rng(0).random((60, 5))
    model = OnlineNMF(ridge=0.01, n_epochs=2, batch_size=20)
    settings = {"model": model, "n_seeds": 3, "holdout": 0.2, "random_state": 1}
    choice, again = (choose_rank(X, [2, 3], **settings) for _ in range(2))
    assert_array_equal(choice.errors, again.errors)
    assert choice.errors.shape == (2, 3)


def test_time_ends_learning_and_what_it_costs_is_logged(caplog):
    X = np.random.default_rng(0).random((2000, 5))
    with caplog.at_level("INFO", logger="atomstream"):
        choice = choose_rank(X, [2, 3], n_seeds=3, max_time=0.0, random_state=0)
    assert choice.rank in (2, 3)
    said = " ".join(caplog.messages)
    assert "6 models (2 ranks with 3 replicates each) in 10 passes over 2,000 rows" in said
    assert "max_time ends learning after 1 batch." in said


def test_progress_is_shown_where_asked_for(capsys):
    X = np.random.default_rng(0).random((300, 5))
    choose_rank(X, [2], model=QUICK, n_seeds=2, random_state=0)
    assert capsys.readouterr() == ("", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "atomstream.watch.callbacks.LearningBar._show", lambda self, state, n, now: print(n)
        )
        choose_rank(X, [2], model=QUICK, n_seeds=2, progress=True, random_state=0)
    assert capsys.readouterr().out.split()[:2] == ["256", "300"]


def test_settings_out_of_range_are_refused():
    X = np.random.default_rng(0).random((20, 4))
    for wrong, sentence in (
        ({"ranks": []}, "ranks must be whole numbers"),
        ({"ranks": [0, 1]}, "ranks must be whole numbers"),
        ({"ranks": [1.5]}, "ranks must be whole numbers"),
        ({"ranks": [2], "n_seeds": 1}, "n_seeds must be a whole number of at least 2"),
        ({"ranks": [2], "holdout": 1.0}, "must be a number above 0, at most 0.5"),
        ({"ranks": 3}, "ranks must be whole numbers"),
    ):
        with pytest.raises(ValueError, match=sentence):
            choose_rank(X, **wrong)


def test_the_number_of_rank_one_atoms_of_tensors_is_found(room, seeds):
    ranks = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        loadings = [rng.random((size, 3)) ** 2 for size in (7, 6)]
        codes = rng.exponential(1.0, (200, 3))
        X = np.einsum("nr,ir,jr->nij", codes, *loadings) + 0.01 * rng.random((200, 7, 6))
        choice = choose_rank(X, range(1, 6), model=OnlineCPDictionary(n_epochs=6), random_state=0)
        ranks.append(choice.rank)
    room.error(abs(np.median(ranks) - 3), at_most=1.5)
    model = ConsensusNMF(3, n_replicates=5, model=OnlineCPDictionary(), random_state=0).fit(X)
    found = model.dictionary()
    assert [matrix.shape for matrix in found.loadings_] == [(7, 3), (6, 3)]
    true = np.einsum("ir,jr->rij", *loadings).reshape(3, -1)
    atoms = found.components_.reshape(3, -1)
    cosines = true @ atoms.T / np.outer(*(np.linalg.norm(rows, axis=1) for rows in (true, atoms)))
    room.share(cosines.max(axis=1).min(), at_least=0.85)
    assert model.transform(X[:4]).shape == (4, 3)


def test_windows_of_a_series_are_judged_in_blocks():
    """Where the noise of neighbours is the same, blocks keep it from those who learn."""
    rng = np.random.default_rng(0)
    motifs = rng.random((2, 8)) ** 4
    series = np.zeros(3000)
    for start in rng.integers(0, 2992, 400):
        series[start : start + 8] += rng.exponential() * motifs[rng.integers(2)]
    rows = next(windows(series, 8, len(series)))
    choice = choose_rank(rows, [1, 4, 8], model=QUICK, block_size=80, random_state=0)
    assert choice.structured
    # A table whose rows come again and again: drawn one by one, each is also learned from.
    X = np.repeat(rng.random((15, 12)), 20, axis=0)
    settings = {"model": OnlineNMF(batch_size=60, n_epochs=30), "n_seeds": 5, "random_state": 0}
    alone, blocks = (choose_rank(X, [1, 8], block_size=size, **settings) for size in (1, 20))
    assert alone.structured
    assert not blocks.structured


@pytest.mark.slow
def test_other_models_and_data_with_holes_may_be_asked():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 2)) @ rng.standard_normal((2, 10)) + 0.05 * rng.standard_normal(
        (120, 10)
    )
    X[rng.random(X.shape) < 0.1] = np.nan
    model = OnlineDictionaryLearning(alpha=0.01, batch_size=40, n_epochs=15)
    assert choose_rank(X, [1, 2, 3], model=model, n_seeds=5, random_state=0).rank == 2


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_counts_may_be_sparse_and_judged_in_their_own_loss(loss):
    rng = np.random.default_rng(1)
    parts = rng.random((3, 20)) * (np.arange(20) // 5 != np.arange(1, 4)[:, None])
    X = sp.csr_array(rng.poisson(rng.exponential(3, (300, 3)) @ parts).astype(float))
    model = OnlineNMF(loss=loss, n_epochs=5)
    choice = choose_rank(X, range(2, 5), model=model, random_state=0)
    assert choice.rank == 3
