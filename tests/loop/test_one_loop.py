"""The loop is written once, the step has no fork, and frozen rounds explain as serial steps do."""

import ast
import inspect
import re
from copy import deepcopy
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

import atomstream
from atomstream import OnlineNMF
from atomstream.estimators._slots import SlotLearner
from atomstream.loop import online
from atomstream.loop.explaining import CodingOptions, CrossFitted, MergedFeatures, Whole
from atomstream.problem.batch import Batch

SOURCES = sorted(Path(atomstream.__file__).parent.rglob("*.py"))


def test_one_file_counts_the_samples_of_batches():
    counting = [
        path.name for path in SOURCES if re.search(r"n_samples \+= batch", path.read_text())
    ]
    assert counting == ["online.py"]


def test_a_step_is_eight_lines_without_a_fork():
    tree = ast.parse(dedent(inspect.getsource(online.Algorithm.step)))
    assert not any(isinstance(node, ast.If | ast.IfExp) for node in ast.walk(tree))
    assert len(tree.body[0].body[1:]) <= 8


@pytest.mark.parametrize(
    ("settings", "explainer"),
    [
        ({"loss": "squared"}, Whole()),
        ({"loss": "kl"}, MergedFeatures()),
        ({"loss": "huber"}, CrossFitted(Whole())),
    ],
)
def test_the_estimator_chooses_how_batches_are_explained(settings, explainer):
    assert OnlineNMF(2, **settings).algorithm_.explainer == explainer


@pytest.mark.parametrize("loss", ["squared", "huber", "l1"])
def test_frozen_rounds_measure_as_a_step_does(loss):
    X = np.random.default_rng(0).random((90, 30))
    model = OnlineNMF(3, loss=loss, random_state=0).partial_fit(X[:40])
    state, clock, parts = model.state_, model.clock_, model.algorithm_
    how = CodingOptions(clock.tolerance, np.random.default_rng([7, 1]))
    _, delta, _ = parts.explain(Batch(X[40:]), state.dictionary, how)
    how = {"multiplicity": 2.0, "seed": [7, 1], "before": 0, "horizon": np.inf}
    slot = SlotLearner(deepcopy(model)).learn_apart([X[40:]], **how, frozen=True, keep_latest=False)
    assert slot.delta.objective == delta.objective
    np.testing.assert_array_equal(slot.delta.usage, delta.usage)
    assert (slot.n_rows, slot.clock.step) == (50, clock.step)
