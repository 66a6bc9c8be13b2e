"""While commands work: answers to signals, progress, and a line where kernels are compiled."""

import functools
import logging
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from cases import of_fields

from atomstream import cli
from atomstream._kernels import compile
from atomstream.base import over_rows, threads
from atomstream.base.progress import compiling, shown_by, track
from atomstream.cli import main

SOON = 2.0  # seconds on an idle machine


def many_rows(folder):
    rows = np.lib.format.open_memmap(folder / "rows.npy", "w+", np.float32, (8_000_000, 20))
    rows[:1000] = np.load(folder / "few.npy")


# Commands that work for much longer than a test waits, what prepares a folder for each, and whether
# it is in the short form and begins a run.
COMMANDS = {
    **of_fields("waiting"),
    "encode": {"command": "encode rows rows.npy --out out.csv", "prepare": many_rows},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("waiting")
    np.save(folder / "few.npy", np.random.default_rng(0).random((1000, 20), np.float32))
    learn = ["learn", str(folder / "few.npy"), "--atoms", "10", "--epochs", "1"]
    assert main([*learn, "--out", str(folder / "rows")]) == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(n, marks=[] if case.get("is_short") else [pytest.mark.long])
        for n, case in enumerate(COMMANDS.values())
    ],
    ids=COMMANDS,
)
def test_commands_answer_signals_and_leave_nothing_half_written(folder, number):
    case = list(COMMANDS.values())[number]
    case["prepare"](folder)
    sent = (signal.SIGINT, signal.SIGTERM)[number % 2]
    before = sorted(path.name for path in folder.iterdir())
    words = [sys.executable, "-m", "atomstream", *case["command"].split()]
    pipe = subprocess.PIPE
    heard = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # ignored in background
    with subprocess.Popen(
        words, cwd=folder, stdout=pipe, stderr=pipe, text=True, preexec_fn=heard
    ) as process:
        try:
            time.sleep(3)
            assert process.poll() is None, process.communicate()
            process.send_signal(sent)
            began = time.monotonic()
            out, err = process.communicate(timeout=30)
            seconds = time.monotonic() - began
        finally:
            process.kill()
    assert seconds < SOON * max(1, 1.5 * os.getloadavg()[0] / os.cpu_count())
    left = sorted({path.name for path in folder.iterdir()} - set(before))
    if case.get("begins_run") and process.returncode == 0:  # not while the table was read
        assert f"Stopped by {sent.name}; continue with: atomstream resume" in out
        assert left == ["run"]
        shutil.rmtree(folder / "run")
    else:
        assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[sent], err
        assert err.endswith("Error: Interrupted.\n")
        assert left == []


def test_progress_and_time_left_are_printed(folder, capsys, monkeypatch):
    monkeypatch.setattr(cli, "SHOWN_AFTER", 0)
    monkeypatch.setattr(cli, "LINE_EVERY", 0)
    monkeypatch.chdir(folder)
    assert main(["encode", "rows", "few.npy", "--out", "o.npz"]) == 0
    assert capsys.readouterr().err.startswith("encoding: 0 s")
    (folder / "o.npz").unlink()


def test_progress_is_that_of_the_outermost_work_and_costs_nothing_unseen():
    assert list(track(range(3), 3, "x")) == [0, 1, 2]
    seen = []

    def show(items, n_items, text):
        seen.append((n_items, text))
        return iter(items)

    with shown_by(show):
        assert list(track("ab", 2, "letters")) == ["a", "b"]
    assert list(track("ab", 2, "unseen")) == ["a", "b"]
    assert seen == [(2, "letters")]
    nested = cli._Progress()
    inner = [list(nested(range(2), 2, "inner")) for _ in nested(range(3), 3, "outer")]
    assert inner == [[0, 1]] * 3
    assert not nested._shown


@pytest.fixture
def compiler(monkeypatch):
    """A function that counts as compiling for a while."""
    monkeypatch.setattr(compile, "PATIENCE", 0.05)
    monkeypatch.setattr(compile, "_state", {"spent": 0.0, "told": False})
    begun = []

    def work(seconds, *, compiles=True):
        begun.extend([1] * compiles)
        time.sleep(seconds)
        return seconds

    return compile._apart(work, lambda: len(begun))


def test_compiling_is_told_once_and_only_where_it_takes_long(compiler, caplog):
    caplog.set_level(logging.INFO, "atomstream._kernels.compile")
    compiler(0.3, compiles=False)
    compiler(0.01)
    assert caplog.messages == []
    for _ in range(2):
        assert compiler(0.3) == 0.3
    assert caplog.messages == ["Compiling (once) ..."]
    with pytest.raises(TypeError):
        compiler("a while")


def test_many_short_compilations_are_told_too(compiler, caplog):
    caplog.set_level(logging.INFO, "atomstream._kernels.compile")
    for _ in range(8):
        compiler(0.03)
    assert caplog.messages == ["Compiling (once) ..."]


def test_what_is_logged_of_compiling_is_printed_by_commands_alone(capsys):
    compile.LOGGER.info("unheard")
    with cli.waiting():
        compile.LOGGER.info("Compiling")
    compile.LOGGER.info("unheard")
    assert capsys.readouterr().err == "Compiling\n"


def test_an_interrupt_does_not_wait_for_the_compiler(compiler):
    def ring(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            compiler(1.5)
        assert time.monotonic() - began < 1.2
        assert compiling()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    time.sleep(2)
    assert not compiling()


@pytest.mark.usefixtures("any_work")
def test_blocks_that_wait_are_not_begun_after_an_error():
    begun = []

    def work(rows):
        begun.append(rows.start)
        time.sleep(0.05)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), threads(2):
        over_rows(work, 256 * 100, 1)
    assert len(begun) < 20
