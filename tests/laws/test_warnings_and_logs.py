"""Warnings have categories of their own, loggers are named after modules, and both are quiet."""

import ast
import functools
import logging
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from cases import of_fields

import atomstream
from atomstream import (
    AtomstreamWarning,
    DataWarning,
    NetworkWarning,
    NotConvergedWarning,
    OnlineNMF,
    RemovalWarning,
    ScheduleWarning,
)
from atomstream.cli import main
from atomstream.exceptions import warn_of_removal

PACKAGE = Path(atomstream.__file__).parent
CATEGORIES = {
    kind.__name__
    for kind in (
        DataWarning,
        NetworkWarning,
        NotConvergedWarning,
        RemovalWarning,
        ScheduleWarning,
    )
}


@functools.cache
def trees():
    """The tree of every module; collecting tests needs none of them."""
    return {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in PACKAGE.rglob("*.py")
    }


@functools.cache
def all_calls():
    """Every call in the package: its module, what is called, and the call."""
    return [
        (module, ast.unparse(node.func), node)
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    ]


def calls(*names):
    """Yield the module and the call of every call of a function of one of these names."""
    yield from ((module, call) for module, called, call in all_calls() if called in names)


# -- warnings


def test_every_warning_has_a_category_of_ours():
    found = list(calls("warnings.warn"))
    assert len(found) > 10
    # one is issued again as it came
    named = [ast.unparse(call.args[1]) for _, call in found if len(call.args) > 1]
    assert set(named) <= CATEGORIES
    again = [ast.unparse(call.args[0]) for _, call in found if len(call.args) == 1]
    assert again == [*of_fields("warned_again")]


def test_one_filter_silences_all_of_ours_and_nothing_else():
    for name in CATEGORIES:
        assert issubclass(getattr(atomstream, name), AtomstreamWarning)
    assert issubclass(AtomstreamWarning, UserWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AtomstreamWarning)
        OnlineNMF(2, schedule="constant", random_state=0).fit(np.eye(4) * 1e-60)
        with pytest.raises(UserWarning, match="other"):
            warnings.warn("other", UserWarning, stacklevel=1)


def test_data_that_cost_accuracy_are_a_data_warning():
    with pytest.warns(DataWarning, match="accuracy is lost"):
        OnlineNMF(2, random_state=0).fit(np.eye(4) * 1e-60)


def test_what_will_go_says_when_and_what_to_write_instead():
    def old():
        warn_of_removal("old()", release="0.9", instead="new()")

    sentence = r"^old\(\) goes in atomstream 0\.9; use new\(\)\.$"
    with pytest.warns(RemovalWarning, match=sentence) as said:
        old()
    assert said[0].filename == __file__  # the line of the caller is the one to change
    assert issubclass(RemovalWarning, FutureWarning)  # which Python shows to users


def test_nothing_is_still_there_in_the_release_that_was_to_remove_it():
    now = [int(part) for part in atomstream.__version__.split(".")[:2]]
    for module, call in calls("warn_of_removal"):
        release = next(ast.literal_eval(it.value) for it in call.keywords if it.arg == "release")
        assert [int(part) for part in release.split(".")[:2]] > now, module


# -- logs


def test_loggers_are_named_after_their_modules():
    found = list(calls("logging.getLogger", "getLogger"))
    assert len(found) > 3
    for module, call in found:
        if module != "__init__.py" and not module.startswith("cli/"):  # the command listens
            assert ast.unparse(call.args[0]) == "__name__", module


def test_nothing_is_printed():
    assert [module for module, _ in calls("print")] == []


@pytest.mark.slow
def test_quiet_unless_asked():
    code = (
        "import logging, atomstream\n"
        "logging.getLogger('atomstream').error('not for your eyes')\n"
        "logging.getLogger('atomstream.loop.online').error('nor this')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""


def test_reseeding_is_logged(caplog):
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, (400, 4))
    X[:, 1] = 0
    init = np.eye(2, 4)  # nothing ever uses the second atom
    model = OnlineNMF(2, init=init, batch_size=20, n_epochs=2, random_state=0)
    with caplog.at_level(logging.INFO, "atomstream"):
        model.fit(X)
    said = [it for it in caplog.records if it.name == "atomstream.loop.online"]
    assert model.n_reseeded_ == sum(it.args[1] for it in said) > 0
    assert "replaced" in said[0].getMessage()


def test_rows_that_do_not_count_are_logged(caplog):
    X = np.ones((6, 3))
    X[2:4] = np.nan
    with caplog.at_level(logging.DEBUG, "atomstream"):
        OnlineNMF(1, missing=True, n_epochs=1, random_state=0).fit(X)
    said = [it.getMessage() for it in caplog.records if it.name == "atomstream.loop.online"]
    assert any("2 of 6 rows" in text for text in said)


def test_settling_is_logged(caplog):
    X = np.random.default_rng(0).random((50, 4))
    with caplog.at_level(logging.INFO, "atomstream"):
        OnlineNMF(2, random_state=0).fit(X)
    said = [it.getMessage() for it in caplog.records if it.name == "atomstream.loop.settling"]
    assert len(said) == 1
    assert "Settled after" in said[0]


def test_checkpoints_and_skipped_rows_are_logged(tmp_path, caplog):
    X = np.random.default_rng(0).random((60, 4))
    X[7, 1] = np.nan
    np.save(tmp_path / "X.npy", X)
    run = str(tmp_path / "run")
    settings = ["--atoms", "2", "--epochs", "1", "--on-bad-line", "skip"]
    with caplog.at_level(logging.INFO, "atomstream"):
        assert main(["learn", str(tmp_path / "X.npy"), "--out", run, *settings]) == 0
    said = {it.name: it.getMessage() for it in caplog.records}
    assert "step-" in said["atomstream.runs.folder"]
    assert "1 of 60 rows" in said["atomstream.runs.tasks.rows"]
