"""How many atoms, and which is which."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import OnlineDictionaryLearning, OnlineNMF, align, choose_rank, plots
from atomstream.estimators.rank import _smallest_good


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


@pytest.mark.slow
@pytest.mark.parametrize("rank", [2, 4])
def test_the_rank_of_data_is_found_and_its_atoms_are_stable(rank):
    rng = np.random.default_rng(rank)
    parts = rng.random((rank, 16)) * (rng.random((rank, 16)) < 0.5)
    X = rng.exponential(size=(250, rank)) @ parts + 0.05 * rng.random((250, 16))
    choice = choose_rank(X, range(1, 7), random_state=0, n_seeds=3)
    assert choice.rank == rank
    assert choice.errors.shape == (6, 3)
    assert choice.similarities.shape == (6, 3)
    assert choice.stability[rank - 1] > 0.95
    assert choice.error[rank - 1] < 0.5 * choice.error[rank - 2]
    figure = plots.rank(choice)
    line = figure.axes[0].lines[0]
    assert_array_equal(line.get_ydata(), plots.rank_data(choice)[1])


def test_the_one_standard_error_rule():
    ranks = np.array([1, 2, 3, 4])
    errors = np.array([[5.0, 5.2], [1.1, 1.3], [1.0, 1.2], [0.9, 1.3]])
    assert _smallest_good(ranks, errors) == 2
    assert _smallest_good(ranks, errors + np.array([[0], [1], [0], [0]])) == 3


def test_errors_are_those_on_the_hidden_entries_of_a_model_that_never_saw_them():
    rng = np.random.default_rng(0)
    X = rng.random((60, 5))
    seen = []

    class Spy(OnlineNMF):
        def fit(self, X, y=None):
            seen.append(np.isnan(X))
            return super().fit(X)

    choice = choose_rank(
        X,
        [2, 3],
        model=Spy(ridge=0.01, n_epochs=2, batch_size=20),
        n_seeds=2,
        holdout=0.2,
        random_state=1,
    )
    assert [hidden.mean() for hidden in seen] == pytest.approx([0.2] * 4, abs=0.06)
    assert_array_equal(seen[0], seen[1])  # the same entries for both ranks
    assert not np.array_equal(seen[0], seen[2])
    again = choose_rank(
        X,
        [2, 3],
        model=Spy(ridge=0.01, n_epochs=2, batch_size=20),
        n_seeds=2,
        holdout=0.2,
        random_state=1,
    )
    assert_array_equal(choice.errors, again.errors)


def test_settings_out_of_range_are_refused():
    X = np.random.default_rng(0).random((20, 4))
    for wrong, sentence in (
        ({"ranks": []}, "ranks must be whole numbers"),
        ({"ranks": [0, 1]}, "ranks must be whole numbers"),
        ({"ranks": [1.5]}, "ranks must be whole numbers"),
        ({"ranks": [2], "n_seeds": 1}, "n_seeds must be at least 2"),
        ({"ranks": [2], "holdout": 1.0}, "holdout must lie between 0 and 1"),
        ({"ranks": 3}, "ranks must be whole numbers"),
        ({"ranks": [2, 5]}, "No hidden entry stands in a row that shows at least 5 others"),
    ):
        with pytest.raises(ValueError, match=sentence):
            choose_rank(X, **wrong)
    with pytest.raises(ValueError, match="needs dense X"):
        choose_rank(sp.csr_array(X), [2])


@pytest.mark.slow
def test_other_models_and_data_with_holes_may_be_asked():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 2)) @ rng.standard_normal((2, 10)) + 0.05 * rng.standard_normal(
        (120, 10)
    )
    X[rng.random(X.shape) < 0.1] = np.nan
    model = OnlineDictionaryLearning(alpha=0.01, batch_size=40, n_epochs=40)
    assert choose_rank(X, [1, 2, 3], model=model, n_seeds=3, random_state=0).rank == 2
