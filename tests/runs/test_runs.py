"""Runs: stopped at any moment and resumed to the bit; one writer; inputs that stay the same."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from commands import refused, run, standard_input
from numpy.testing import assert_array_equal

import atomstream
from atomstream import OnlineNMF
from atomstream.base.progress import COMPILER
from atomstream.cli import main
from atomstream.files.codec import read_model
from atomstream.io.feed import MOST_ROWS, Holdout
from atomstream.runs.folder import RunFolder
from atomstream.runs.run import Run, StoppedAtOnce, stopped_by_signals
from atomstream.runs.settings import read_settings, write_settings
from atomstream.runs.tasks._rows_settings import RowsSettings
from atomstream.updates import BlockCoordinate

X = np.random.default_rng(0).random((1000, 6)).round(4)


@pytest.fixture
def data(tmp_path):
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


def atomstream_process(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "atomstream", *map(str, arguments)], text=True, **options
    )


def same(run, other):
    one, two = (read_model(path / "model.atoms") for path in (run, other))
    assert_array_equal(one[0].components_, two[0].components_)
    assert_array_equal(one[0].memory_.cross, two[0].memory_.cross)
    assert one[0].clock_ == two[0].clock_
    assert one[0]._learner.rng.bit_generator.state == two[0]._learner.rng.bit_generator.state
    assert one[1]["position"] == two[1]["position"]
    assert_array_equal(*(notes["history"]["objective"] for _, notes in (one, two)))
    assert_array_equal(one[1]["holdout"]["keys"], two[1]["holdout"]["keys"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "n_kills", [4, pytest.param(50, marks=[pytest.mark.long, pytest.mark.weekly])]
)
def test_runs_that_are_killed_end_as_if_never_stopped(tmp_path, n_kills):
    script = Path(__file__).parents[1] / "kill_and_resume.py"
    done = subprocess.run(
        [sys.executable, script, str(tmp_path), str(n_kills)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["equal"] == n_kills
    # The others had ended before the signal came, of which a busy machine decides.
    assert found["caught"] >= 0.5 * n_kills
    assert found["half_written"] >= 0.1 * n_kills


def test_a_run_is_partial_fit_on_the_batches_of_the_file(data, tmp_path):
    settings = ["--atoms", 4, "--holdout", 0, "--batch-size", 64, "--epochs", 1]
    run("learn", data, *settings, "--out", tmp_path / "run")
    model = OnlineNMF(4, batch_size=64, random_state=0, n_jobs=1)
    for start in range(0, 1000, 64):
        model.partial_fit(X[start : start + 64])
    assert_array_equal(atomstream.load(tmp_path / "run/model.atoms").components_, model.components_)


def test_passes_replace_what_earlier_ones_measured_as_in_fit(data, tmp_path):
    settings = [
        "--atoms",
        4,
        "--holdout",
        0,
        "--batch-size",
        100,
        "--schedule",
        "harmonic",
        "--epochs",
        3,
    ]
    run("learn", data, *settings, "--out", tmp_path / "run")
    model = OnlineNMF(
        4, batch_size=100, n_epochs=3, shuffle=False, schedule="harmonic", random_state=0, n_jobs=1
    )
    learned = atomstream.load(tmp_path / "run/model.atoms")
    assert_array_equal(learned.components_, model.fit(X).components_)
    assert learned.clock_.mass == 1000


def test_the_same_rows_learn_the_same_from_every_kind_of_file(data, tmp_path):
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", fmt="%.17g")
    np.savez_compressed(tmp_path / "x.npz", X)
    for name in ("x.npy", "x.csv", "x.npz"):
        run("learn", tmp_path / name, "--atoms", 3, "--out", tmp_path / f"run-{name}")
    same(tmp_path / "run-x.npy", tmp_path / "run-x.csv")
    same(tmp_path / "run-x.npy", tmp_path / "run-x.npz")


def test_more_passes_later_are_more_passes_at_once(data, tmp_path):
    run("learn", data, "--atoms", 3, "--epochs", 3, "--out", tmp_path / "once")
    run("learn", data, "--atoms", 3, "--epochs", 1, "--out", tmp_path / "later")
    run("resume", tmp_path / "later", "--epochs", 3)
    same(tmp_path / "once", tmp_path / "later")
    run("learn", "--config", tmp_path / "later/run.toml", "--out", tmp_path / "again")
    same(tmp_path / "once", tmp_path / "again")


BIG = ["--atoms", 20, "--epochs", 4, "--batch-size", 32]


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """A table that takes half a second to learn from, with the run that nobody stopped."""
    folder = tmp_path_factory.mktemp("big")
    np.save(folder / "big.npy", np.random.default_rng(0).random((10_000, 50)))
    run("learn", folder / "big.npy", *BIG, "--out", folder / "whole")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGTERM]
)
def test_a_signal_ends_the_step_saves_and_ends_cleanly(big, tmp_path, number):
    process = atomstream_process(
        "learn", big / "big.npy", *BIG, "--json", "--out", tmp_path / "run", stdout=-1
    )
    while "begin" not in [event["event"] for event in RunFolder(tmp_path / "run").log.events()]:
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(number)
    told = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == 0
    assert told["stopped_by"] == number.name
    assert not told["complete"]
    run("resume", tmp_path / "run")
    same(tmp_path / "run", big / "whole")


def test_max_time_ends_a_run_that_can_go_on(data, tmp_path, capsys):
    run(
        "learn",
        data,
        "--epochs",
        50,
        "--atoms",
        3,
        "--max-time",
        "0s",
        "--json",
        "--out",
        tmp_path / "run",
    )
    told = json.loads(capsys.readouterr().out)
    assert (told["stopped_by"], told["steps"]) == ("max-time", 1)
    run("resume", tmp_path / "run")
    run("learn", data, "--epochs", 50, "--atoms", 3, "--out", tmp_path / "whole")
    same(tmp_path / "run", tmp_path / "whole")


@pytest.mark.slow
def test_a_second_writer_is_refused_and_a_dead_one_holds_nothing(data, tmp_path, capsys):
    folder = tmp_path / "run"
    run("learn", data, "--atoms", 3, "--out", folder)
    code = (
        "import sys, time; from atomstream.runs.folder import RunFolder\n"
        "with RunFolder(sys.argv[1]).writing(): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=-1, text=True)
    assert holder.stdout.readline() == "held\n"
    capsys.readouterr()
    assert main(["resume", str(folder)]) == 2
    assert "being written by another process" in capsys.readouterr().err
    holder.kill()
    holder.communicate()
    run("resume", folder)


def test_an_input_that_changed_is_refused(data, tmp_path, capsys):
    run("learn", data, "--atoms", 3, "--epochs", 2, "--max-time", "0", "--out", tmp_path / "run")
    changed = X.copy()
    changed[-1, -1] += 1
    np.save(data, changed)
    assert main(["resume", str(tmp_path / "run")]) == 2
    assert "x.npy has changed since the run began" in capsys.readouterr().err
    np.save(data, X)
    run("resume", tmp_path / "run")


def test_settings_that_changed_are_refused(data, tmp_path, capsys):
    run("learn", data, "--atoms", 3, "--epochs", 2, "--max-time", "0", "--out", tmp_path / "run")
    toml = tmp_path / "run/run.toml"
    toml.write_text(toml.read_text().replace("atoms = 3", "atoms = 4"))
    assert main(["resume", str(tmp_path / "run")]) == 2
    assert "settings of" in capsys.readouterr().err


def test_the_last_few_checkpoints_are_kept_and_a_damaged_one_is_passed_over(data, tmp_path, capsys):
    settings = ["--atoms", 3, "--batch-size", 50, "--checkpoint-every", 0, "--epochs", 2]
    run("learn", data, *settings, "--keep", 4, "--out", tmp_path / "run")
    saved = sorted((tmp_path / "run/checkpoints").iterdir())
    assert [path.name for path in saved] == [f"step-{n:012d}.atoms" for n in (37, 38, 39, 40)]
    run("learn", data, *settings, "--max-time", "0", "--out", tmp_path / "other")
    saved[-1].write_bytes(saved[-1].read_bytes()[:-1])
    saved[-2].write_bytes((tmp_path / "other/model.atoms").read_bytes())
    (tmp_path / "run/model.atoms").unlink()
    before = (tmp_path / "run/run.toml").read_text()
    run("resume", tmp_path / "run")
    told = capsys.readouterr().err
    assert "step-000000000040.atoms is damaged" in told
    assert "step-000000000039.atoms belongs to another run" in told
    run("learn", data, *settings, "--out", tmp_path / "whole")
    same(tmp_path / "run", tmp_path / "whole")
    assert (tmp_path / "run/run.toml").read_text() == before


def test_a_run_that_was_killed_before_its_first_checkpoint_begins_anew(data, tmp_path):
    run("learn", data, "--atoms", 3, "--out", tmp_path / "whole")
    folder = RunFolder(tmp_path / "run")
    settings = RunFolder(tmp_path / "whole").settings()
    with folder.writing():
        folder.begin(settings, atomstream.io.inputs.open_inputs(settings.inputs))
    run("resume", tmp_path / "run")
    same(tmp_path / "run", tmp_path / "whole")


def test_a_full_disk_leaves_the_last_checkpoint_and_says_so(data, tmp_path, capsys, monkeypatch):
    run("learn", data, "--atoms", 3, "--epochs", 2, "--max-time", "0", "--out", tmp_path / "run")
    before = (tmp_path / "run/model.atoms").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("atomstream.io.files.os.fsync", full)
        assert main(["resume", str(tmp_path / "run")]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert (tmp_path / "run/model.atoms").read_bytes() == before
    run("resume", tmp_path / "run")
    run("learn", data, "--atoms", 3, "--epochs", 2, "--out", tmp_path / "whole")
    same(tmp_path / "run", tmp_path / "whole")


def test_a_folder_that_cannot_be_written_to_leaves_the_old_checkpoint_whole(
    data, tmp_path, capsys, monkeypatch
):
    run("learn", data, "--atoms", 3, "--epochs", 2, "--max-time", "0", "--out", tmp_path / "run")
    before = (tmp_path / "run/model.atoms").read_bytes()
    real = os.open

    def read_only(path, flags, *mode):
        if flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, *mode)

    with monkeypatch.context() as patch:  # in place of chmod, which does not bind root
        patch.setattr("atomstream.io.files.os.open", read_only)
        assert main(["resume", str(tmp_path / "run")]) == 1
    assert "Permission denied" in capsys.readouterr().err
    assert (tmp_path / "run/model.atoms").read_bytes() == before
    run("resume", tmp_path / "run")


def test_bad_rows_on_the_way_keep_what_was_learned(tmp_path, capsys):
    rows = X.copy()
    rows[730, 2] = np.nan
    np.save(tmp_path / "x.npy", rows)
    settings = ["--atoms", "3", "--batch-size", "100", "--out", str(tmp_path / "run")]
    assert main(["learn", str(tmp_path / "x.npy"), *settings]) == 2
    told = capsys.readouterr().err
    assert "contains NaN" in told
    assert "--missing" in told
    assert f"first in row 730, column 2 of {tmp_path}" in told  # whatever was held out before it
    assert read_model(tmp_path / "run/model.atoms")[1]["position"] == [0, 0, 700]


def test_standard_input_goes_on_with_what_comes(tmp_path, capsys):
    def feed(*arguments, rows):
        lines = "\n".join(",".join(map(repr, row)) for row in rows.tolist())
        with standard_input("a,b,c,d,e,f\n" + lines + "\n"):
            run(*arguments)

    feed("learn", "-", "--atoms", 3, "--batch-size", 50, "--out", tmp_path / "run", rows=X[:500])
    feed("resume", tmp_path / "run", "--epochs", 1, rows=X[500:])
    model, notes = read_model(tmp_path / "run/model.atoms")
    assert "continuing with what comes" in capsys.readouterr().err
    assert model.n_samples_seen_ + notes["holdout"]["n_held"] == 1000
    assert notes["position"] == [0, 0, 1000]


def unread(pipe):
    """Return how many bytes of a pipe the other end has not read."""
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


THREE_LINES = ("learn", "-", "--batch-size", 2, "--holdout", 0, "--atoms", 2, "--out")


@pytest.fixture
def waiting():
    """A pipe with three lines whose other end stays open."""
    read, write = os.pipe()
    os.write(write, b"1,2\n3,4\n5,6\n")
    with standard_input(read):
        yield write
    os.close(write)
    os.close(read)


@pytest.mark.usefixtures("waiting")
def test_lines_that_came_before_a_stop_are_learned_even_if_nothing_was_begun(tmp_path, monkeypatch):
    """They were taken from the pipe when the run looked at its columns."""
    begun = Run.run

    def stopped_first(self, *arguments, **settings):
        self.stop("SIGTERM")
        return begun(self, *arguments, **settings)

    monkeypatch.setattr(Run, "run", stopped_first)
    run(*THREE_LINES, tmp_path / "run")
    assert atomstream.load(tmp_path / "run/model.atoms").n_samples_seen_ == 3


def test_sigterm_ends_a_run_that_waits_for_lines(tmp_path, waiting):
    def send():
        while not (tmp_path / "run/log.jsonl").exists() or unread(waiting):
            time.sleep(0.01)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    def unheard(*_):
        pytest.fail("the run does not hear the signal")

    sender, before = threading.Thread(target=send), signal.signal(signal.SIGTERM, unheard)
    sender.start()
    try:
        run(*THREE_LINES, tmp_path / "run")
    finally:
        sender.join()
        signal.signal(signal.SIGTERM, before)
    model = atomstream.load(tmp_path / "run/model.atoms")
    assert (model.n_steps_, model.n_samples_seen_) == (
        2,
        3,
    )  # the third row came, and will not come again


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_held_out_rows_are_few_never_learned_and_the_same_in_every_pass(convert):
    rng = np.random.default_rng(0)
    rows, ids = rng.random((20_000, 3)), np.arange(20_000, dtype=np.uint64)
    holdout, learned = Holdout(0.05, seed=1), []
    for start in range(0, 20_000, 100):
        part = slice(start, start + 100)
        held = holdout.choose(convert(rows[part]), ids[part])
        assert_array_equal(held, holdout.choose(convert(rows[part]), ids[part]))
        learned.append(rows[part][~held])
        if held.any():
            holdout.keep(convert(rows[part])[held], ids[part][held])
    kept = holdout.rows.toarray() if sp.issparse(holdout.rows) else holdout.rows
    first = np.concatenate(learned)
    assert len(kept) == MOST_ROWS
    assert not {tuple(row) for row in kept} & {tuple(row) for row in first}
    assert 20_000 - len(first) == holdout.n_held < 1000
    again = Holdout(0.05, seed=1)
    again.restore(holdout.notes())
    held = again.choose(convert(rows), ids)
    assert held.sum() == MOST_ROWS
    assert {tuple(row) for row in rows[held]} == {tuple(row) for row in kept}
    assert_array_equal(again.keys, holdout.keys)
    # A uniform sample: the mean of the rows' numbers lies within 4.5 standard errors of that of
    # all.
    places = [np.flatnonzero((rows == row).all(axis=1))[0] for row in kept]
    assert abs(np.mean(places) - 9999.5) < 4.5 * 20_000 / np.sqrt(12 * MOST_ROWS)


def test_settings_survive_toml(tmp_path):
    odd = RowsSettings(
        inputs=('a "quoted" \\ name\n', "ü\x7f"),
        half_life=1e5,
        columns=("a b",),
        alpha=0.1,
        key="k",
    )
    (tmp_path / "run.toml").write_text(write_settings(odd), encoding="utf-8")
    assert RowsSettings(**read_settings(tmp_path / "run.toml", RowsSettings)) == odd


def test_checkpoints_are_paced_by_what_they_cost(data, tmp_path, monkeypatch):
    from atomstream.runs import run as engine

    saved = []
    real = RunFolder.save

    def slow(self, *given):
        saved.append(time.monotonic())
        time.sleep(0.02)
        real(self, *given)

    monkeypatch.setattr(engine, "PAUSE", 0.0)
    monkeypatch.setattr(engine, "COST", 10.0)
    monkeypatch.setattr(RunFolder, "save", slow)
    run(
        "learn",
        data,
        "--epochs",
        3000,
        "--max-time",
        "3",
        "--batch-size",
        10,
        "--out",
        tmp_path / "run",
    )
    assert len(saved) >= 3
    assert np.diff(saved[:-1]).min() > 0.02 * engine.COST


def test_an_error_within_a_step_loses_and_repeats_nothing(data, tmp_path, monkeypatch):
    """What is on disk fits together, whichever call failed, and goes on to the bit."""
    settings = ["--atoms", 3, "--batch-size", 50, "--checkpoint-every", 0, "--epochs", 1]
    run("learn", data, *settings, "--out", tmp_path / "whole")
    for number, name in (
        (12, "atomstream.io.files.os.fsync"),
        (3, "atomstream.updates.BlockCoordinate.update"),
    ):
        out, calls = tmp_path / name, []

        def fails_once(*arguments, real, number=number, calls=calls):
            calls.append(1)
            if len(calls) == number:
                raise OSError(28, "No space left on device")
            return real(*arguments)

        with monkeypatch.context() as patch:
            if "fsync" in name:
                patch.setattr(
                    name, lambda handle, real=os.fsync, f=fails_once: f(handle, real=real)
                )
            else:
                update = BlockCoordinate.update
                patch.setattr(name, lambda *given, real=update, f=fails_once: f(*given, real=real))
            assert main(["learn", str(data), *map(str, settings), "--out", str(out)]) == 1
        run("resume", out)
        same(out, tmp_path / "whole")


@pytest.mark.slow
def test_a_watcher_that_has_gone_does_not_end_a_run(data, tmp_path):
    read, write = os.pipe()
    os.close(read)
    process = atomstream_process(
        "learn", data, "--atoms", 3, "--out", tmp_path / "run", stdout=-3, stderr=write
    )
    os.close(write)
    assert process.wait(timeout=60) == 0
    assert RunFolder(tmp_path / "run").log.events()[-1]["complete"]


def test_a_refused_run_is_none(data, tmp_path, capsys):
    np.save(data, np.where(X < 0.1, np.nan, X))
    assert main(["learn", str(data), "--out", str(tmp_path / "run")]) == 2
    assert "first in row" in capsys.readouterr().err
    run("learn", data, "--missing", "--alpha", 0.1, "--out", tmp_path / "run")


def test_names_and_inputs_may_be_many(tmp_path):
    import pandas as pd

    wide = pd.DataFrame(
        np.ones((30, 6_000)), columns=[f"a_long_name_of_a_feature_{i}" for i in range(6_000)]
    )
    wide.to_csv(tmp_path / "wide.csv", index=False)
    once = ("--atoms", 2, "--epochs", 1, "--out")
    run("learn", tmp_path / "wide.csv", *once, tmp_path / "run")
    for i in range(200):
        np.save(tmp_path / f"{'long' * 50}{i}.npy", X[:3])
    run("learn", *sorted(tmp_path.glob("long*.npy")), *once, tmp_path / "many")
    run("resume", tmp_path / "many")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float16, np.uint8, np.longdouble, bool, np.int16])
def test_numbers_of_every_kind_can_be_learned_and_saved(tmp_path, dtype):
    np.save(tmp_path / "x.npy", (10 * X).astype(dtype))
    run("learn", tmp_path / "x.npy", "--atoms", 2, "--out", tmp_path / "run")
    run("inspect", tmp_path / "run")


def test_sparse_and_dense_inputs_mix(tmp_path):
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(np.where(X < 0.5, 0, X)))
    np.save(tmp_path / "d.npy", X)
    for order in (("s.npz", "d.npy"), ("d.npy", "s.npz")):
        inputs = [tmp_path / name for name in order]
        run(
            "learn",
            *inputs,
            "--atoms",
            2,
            "--batch-size",
            300,
            "--out",
            tmp_path / f"run-{order[0]}",
        )


def test_threads_may_change_from_session_to_session(data, tmp_path):
    run("learn", data, "--atoms", 3, "--epochs", 2, "--max-time", "0", "--out", tmp_path / "run")
    toml = tmp_path / "run/run.toml"
    toml.write_text(toml.read_text().replace("jobs = 1", "jobs = 2"))
    run("resume", tmp_path / "run")
    assert atomstream.load(tmp_path / "run").n_jobs == 2
    run("learn", data, "--atoms", 3, "--epochs", 2, "--out", tmp_path / "whole")
    same(tmp_path / "run", tmp_path / "whole")


def test_what_is_not_there_any_more_in_a_run_gets_a_sentence(data, tmp_path, capsys):
    run("learn", data, "--atoms", 3, "--out", tmp_path / "run")
    toml, inputs = (tmp_path / "run/run.toml").read_text(), tmp_path / "run/inputs.json"
    (tmp_path / "run/run.toml").write_text(toml.replace('.npy"]', f'.npy", "{data}"]'))
    assert main(["resume", str(tmp_path / "run")]) == 2
    assert "names 2 inputs, the run began with 1" in capsys.readouterr().err
    (tmp_path / "run/run.toml").write_text(toml)
    inputs.write_text('{"format": 1}')
    assert main(["resume", str(tmp_path / "run")]) == 2
    assert "inputs.json cannot be read" in capsys.readouterr().err
    assert main(["inspect", str(tmp_path / "run")]) == 2


def test_fewer_passes_than_were_made_change_nothing(data, tmp_path, capsys):
    run("learn", data, "--atoms", 3, "--epochs", 3, "--out", tmp_path / "run")
    before = (tmp_path / "run/run.toml").read_text()
    assert main(["resume", str(tmp_path / "run"), "--epochs", "2"]) == 2
    assert "has learned further than --epochs 2" in capsys.readouterr().err
    assert (tmp_path / "run/run.toml").read_text() == before
    run("resume", tmp_path / "run")
    assert "Nothing is left to do" in capsys.readouterr().out


@pytest.mark.slow
def test_a_stream_that_was_stopped_gives_what_it_brought(tmp_path):
    lines = "\n".join(
        ",".join(map(str, row))
        for row in np.round(np.random.default_rng(0).random((20_000, 60)), 3)
    )
    process = atomstream_process(
        "learn",
        "-",
        "--atoms",
        60,
        "--holdout",
        0,
        "--json",
        "--out",
        tmp_path / "run",
        stdin=-1,
        stdout=-1,
    )
    process.stdin.write(lines + "\n")
    process.stdin.flush()  # all of it has left our hands, most of it waits to be learned
    process.send_signal(signal.SIGTERM)
    told = json.loads(process.communicate(timeout=120)[0])
    # The end of the stream, which comes right after the signal, may be seen first.
    assert told["stopped_by"] == "SIGTERM" or (told["complete"] and told["samples"] == 20_000)
    assert told["samples"] >= 15_000  # the rest was still in the pipe


@pytest.mark.parametrize("live", [True, False])
def test_a_signal_waits_for_the_compiler_only_where_rows_would_be_lost(live):
    """Kernels are compiled while the first rows wait; those of a stream cannot be read again."""
    asked, done = [], threading.Event()
    run = SimpleNamespace(finishing=False, task=SimpleNamespace(live=live), stop=asked.append)
    compiler = threading.Thread(target=done.wait, name=COMPILER)
    compiler.start()
    try:
        with stopped_by_signals(run), nullcontext() if live else pytest.raises(StoppedAtOnce):
            signal.raise_signal(signal.SIGTERM)
    finally:
        done.set()
        compiler.join()
    assert asked == ["SIGTERM"]


def test_a_silent_stream_is_saved_and_timed(tmp_path, monkeypatch):
    saved, save = [], RunFolder.save

    def noted(*given):
        saved.append(time.monotonic())
        save(*given)

    monkeypatch.setattr(RunFolder, "save", noted)
    read, write = os.pipe()
    os.write(write, b"1,2\n2,1\n" * 10)
    words = ("--atoms", 2, "--batch-size", 5, "--checkpoint-every", "0.3", "--max-time", "3")
    with standard_input(read):
        run("learn", "-", *words, "--out", tmp_path / "run")
    ended = time.monotonic()
    os.close(write)
    os.close(read)
    assert ended - saved[0] > 0.5  # while it waited, not at its end
    assert RunFolder(tmp_path / "run").log.events()[-1]["reason"] == "max-time"


def test_a_stream_is_resumed_by_the_names_of_its_columns(tmp_path, capsys):
    def feed(*arguments, header, rows):
        with standard_input(header + rows):
            return main([str(argument) for argument in arguments])

    def learned(name, header, rows):
        settings = ("--atoms", 2, "--batch-size", 2, "--holdout", 0, "--out", tmp_path / name)
        assert feed("learn", "-", *settings, header="a,b\n", rows="1,2\n3,4\n") == 0
        assert feed("resume", tmp_path / name, header=header, rows=rows) == 0
        return read_model(tmp_path / name / "model.atoms")

    straight, _ = learned("straight", "a,b\n", "5,6\n7,1\n")
    turned, notes = learned("turned", "b,a\n", "6,5\n1,7\n")
    assert_array_equal(turned.components_, straight.components_)
    assert list(notes["names"]) == turned.feature_names_in_.tolist() == ["a", "b"]
    capsys.readouterr()
    assert feed("resume", tmp_path / "turned", header="a,z\n", rows="1,2\n") == 2
    told = capsys.readouterr().err
    assert "different names of columns than the run learned from: missing is 'b' and unexp" in told
    assert feed("resume", tmp_path / "turned", header="", rows="5,6\n7,1\n") == 0
    assert list(read_model(tmp_path / "turned/model.atoms")[1]["names"]) == ["a", "b"]


def test_a_stream_without_a_header_goes_on_in_the_learned_order_when_told(tmp_path, capsys):
    def fed(*arguments, lines):
        with standard_input(lines):
            return main([str(argument) for argument in arguments])

    rows = "1,2\n0.5,0.7\n0.2,0.9\n"  # the first of which looks like names
    settings = ("--atoms", 2, "--batch-size", 2, "--holdout", 0, "--out")
    for name in ("named", "told"):
        assert fed("learn", "-", *settings, tmp_path / name, lines="a,b\n1,2\n3,4\n") == 0
    assert fed("resume", tmp_path / "named", lines="a,b\n" + rows) == 0
    capsys.readouterr()
    assert fed("resume", tmp_path / "told", lines=rows) == 2
    assert "Where its first line is a row, resume with --header no" in capsys.readouterr().err
    assert fed("resume", tmp_path / "told", "--header", "no", lines=rows) == 0
    models = [read_model(tmp_path / name / "model.atoms") for name in ("named", "told")]
    assert_array_equal(models[0][0].components_, models[1][0].components_)
    assert models[1][0].n_samples_seen_ == 5
    assert list(models[1][1]["names"]) == ["a", "b"]
    # The next stream has lines of its own, and may have a header again.
    assert fed("resume", tmp_path / "told", lines="b,a\n7,8\n9,8\n") == 0
    assert fed("resume", tmp_path / "told", "--header", "maybe", lines=rows) == 2
    assert "header is 'maybe', needed is one of auto, yes, no" in capsys.readouterr().err
    again = ("learn", "-", *settings, tmp_path / "told", "--resume", "--header", "no")
    assert fed(*again, lines=rows) == 0
    assert read_model(tmp_path / "told/model.atoms")[0].n_samples_seen_ == 10


def test_a_line_of_the_log_that_was_cut_does_not_take_the_next_with_it(tmp_path):
    folder = RunFolder(tmp_path)
    folder.log.write("one")
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"event": "cut o')
    folder.log.write("two", n=2)
    folder.log.write("three")
    assert [event["event"] for event in folder.log.events()] == ["one", "two", "three"]


def test_warnings_are_kept_for_the_report_and_never_too_many(data, tmp_path, monkeypatch):
    import warnings

    from atomstream.runs.run import MOST_WARNINGS

    numbers = iter(range(1000))
    update = BlockCoordinate.update

    def warn(*given):
        warnings.warn(f"step {next(numbers) // 2}", UserWarning, stacklevel=1)
        return update(*given)

    monkeypatch.setattr(BlockCoordinate, "update", warn)
    settings = ["--atoms", 2, "--batch-size", 10, "--epochs", 1]
    run("learn", data, *settings, "--out", tmp_path / "run")
    told = list(read_model(tmp_path / "run/model.atoms")[1]["warnings"])
    assert told == [f"step {n}" for n in range(MOST_WARNINGS)]


def test_a_run_that_another_process_ended_meanwhile_is_not_overwritten(
    data, tmp_path, capsys, monkeypatch
):
    from atomstream.cli import running

    real, ended = running.Run, []

    def late(*arguments):  # between the first look at the folder and its lock
        if not ended:
            ended.append(True)
            run("learn", data, "--atoms", 3, "--out", tmp_path / "run")
        return real(*arguments)

    monkeypatch.setattr(running, "Run", late)
    assert main(["learn", str(data), "--atoms", "5", "--out", str(tmp_path / "run")]) == 2
    assert "holds a run already" in capsys.readouterr().err
    assert atomstream.load(tmp_path / "run").n_components == 3
    assert RunFolder(tmp_path / "run").settings().atoms == 3


def test_small_inputs_are_read_as_often_as_they_need(tmp_path, capsys):
    X = np.random.default_rng(0).random((2600, 4)) @ np.random.default_rng(1).random((4, 9))
    np.save(tmp_path / "x.npy", X)
    run("learn", tmp_path / "x.npy", "--atoms", 4, "--holdout", 0, "--out", tmp_path / "run")
    assert atomstream.load(tmp_path / "run").n_samples_seen_ == 20 * 2600
    capsys.readouterr()
    run("resume", tmp_path / "run")
    assert "Nothing is left to do" in capsys.readouterr().out
    np.save(tmp_path / "few.npy", X[:100])
    run("learn", tmp_path / "few.npy", "--atoms", 4, "--holdout", 0, "--out", tmp_path / "few")
    assert atomstream.load(tmp_path / "few").n_samples_seen_ == 25 * 100


def test_a_run_that_still_gains_says_so_and_one_that_does_not_is_silent(tmp_path, capsys):
    X = np.random.default_rng(0).random((400, 4)) @ np.random.default_rng(1).random((4, 9))
    np.save(tmp_path / "x.npy", X)
    options = ("--atoms", 4, "--batch-size", 50, "--holdout", 0)
    run("learn", tmp_path / "x.npy", *options, "--epochs", 2, "--out", tmp_path / "two")
    told = capsys.readouterr().err
    found = re.search(
        r"still fell by (\d+) % in the last of 2 passes; resume with --epochs 4", told
    )
    assert found, told
    assert 2 < int(found[1]) < 100
    noise = np.random.default_rng(0).random((400, 9))
    np.save(tmp_path / "noise.npy", noise)
    run("learn", tmp_path / "noise.npy", *options, "--epochs", 60, "--out", tmp_path / "sixty")
    assert "still fell" not in capsys.readouterr().err


def test_more_atoms_than_rows_are_told(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((12, 5)))
    run("learn", tmp_path / "x.npy", "--holdout", 0, "--out", tmp_path / "run")
    assert "20 atoms for 12 rows: each row can have its own" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["std", "max", "log1p", "tfidf"])
def test_a_run_learns_the_scale_of_the_columns_and_goes_on_with_it(tmp_path, kind, capsys):
    table = np.random.default_rng(3).exponential(size=(400, 4)) * [1, 1000, 0.01, 5]
    rows = "\n".join(["a,b,c,d", *(",".join(f"{x:.6g}" for x in row) for row in table)])
    (tmp_path / "x.csv").write_text(rows)
    common = ("learn", tmp_path / "x.csv", "--atoms", 2, "--batch-size", 50, "--scale", kind)
    run(*common, "--epochs", 3, "--out", tmp_path / "once")
    run(*common, "--epochs", 1, "--out", tmp_path / "twice")
    run("resume", tmp_path / "twice", "--epochs", 3)
    same(tmp_path / "once", tmp_path / "twice")
    one, two = (atomstream.load(tmp_path / name) for name in ("once", "twice"))
    assert one.scaling_.kind == kind
    assert_array_equal(one.scaling_.divisor, two.scaling_.divisor)
    if kind == "std":  # of the rows that were not held out, each once
        held = read_model(tmp_path / "once/model.atoms")[1]["holdout"]["rows"]
        every = np.loadtxt(tmp_path / "x.csv", delimiter=",", skiprows=1)
        kept = np.array([row for row in every if not (held == row).all(axis=1).any()])
        np.testing.assert_allclose(one.scaling_.divisor, kept.std(axis=0))
    capsys.readouterr()
    run("inspect", tmp_path / "once")
    told = capsys.readouterr().out
    assert "  scale " in told
    explained = (
        r"\S+\n  explained +[\d.]+ % of the energy(, [\d.]+ % of what .* leaves?)? \(held-out"
    )
    assert re.match(explained, told)
    share = float(re.search(r"explained +([\d.]+) %", told)[1])
    assert 0 < share < 100  # of rows in units of the scale


def test_a_column_with_most_of_the_energy_is_told(tmp_path, capsys):
    table = np.random.default_rng(3).random((60, 3)) * [1, 1, 100]
    rows = "\n".join(["age,height,income", *(",".join(f"{x:.6g}" for x in row) for row in table)])
    (tmp_path / "x.csv").write_text(rows)
    common = ("learn", tmp_path / "x.csv", "--atoms", 2, "--epochs", 1)
    run(*common, "--out", tmp_path / "run")
    assert re.search(r"Column 'income' has 100 % .*say --scale std", capsys.readouterr().err)
    for number, more in enumerate((("--scale", "max"), ("--loss", "kl"))):
        run(*common, *more, "--out", tmp_path / f"run{number}")
        assert "of the energy" not in capsys.readouterr().err


def test_a_small_input_settles_unless_its_passes_are_given(tmp_path, room):
    """Rows come in their order, so passes alone end at the last of two batches, far above `fit`."""
    rng = np.random.default_rng(0)
    usages = rng.exponential(size=(380, 5)) * np.repeat([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]], 190, 0)
    X = usages @ rng.random((5, 12)) + 0.1 * rng.exponential(size=(380, 12))
    np.save(tmp_path / "X.npy", X)
    here = OnlineNMF(5, random_state=0).fit(X)
    for name, options in (("settled", ()), ("passes", ("--epochs", 25))):
        run("learn", tmp_path / "X.npy", "--atoms", 5, *options, "--out", tmp_path / name)
    settled, passes = (
        atomstream.load(tmp_path / f"{name}/model.atoms") for name in ("settled", "passes")
    )
    room.ratio(settled.losses(X).mean() / here.losses(X).mean(), at_most=1.25)
    assert passes.settling_ is None
    assert 1 < settled.settling_.n_rounds <= 25


@pytest.mark.parametrize("wrong", [np.inf, np.nan, -1.0])
def test_a_bad_row_that_is_held_out_is_refused_too(tmp_path, capsys, wrong):
    for place in range(20):  # one of twenty rows is held out
        X = np.random.default_rng(0).random((20, 3))
        X[place, 1] = wrong
        np.save(tmp_path / "x.npy", X)
        out = tmp_path / f"run{place}"
        told = refused(capsys, "learn", tmp_path / "x.npy", "--atoms", 2, "--out", out)
        assert f"row {place}" in told
