"""How long a run would take, and how much memory, is said before it begins."""

import gzip
import json
import time
from types import SimpleNamespace

import numpy as np
import pytest
from cases import of_fields
from commands import refused, run, standard_input

from atomstream.base.declared import declared
from atomstream.io.inputs import open_inputs
from atomstream.runs import estimate, kinds_of_runs
from atomstream.runs.estimate import Estimate
from atomstream.runs.task import Task, Work, task_named

X = np.random.default_rng(0).random((2_000, 30)).astype(np.float32)


@pytest.fixture
def short(monkeypatch):
    """Let the steps that are timed end soon."""
    monkeypatch.setattr(estimate, "LONG", 0.2)
    monkeypatch.setattr(estimate, "SHORT", 0.2)


def facts(capsys, *words):
    """Return what a command with --estimate prints for machines."""
    capsys.readouterr()
    run(*words, "--estimate", "--json")
    return json.loads(capsys.readouterr().out)


def test_an_estimate_writes_nothing_and_needs_no_folder(tmp_path, capsys, monkeypatch, short):
    path = tmp_path / "x.npy"
    np.save(path, np.tile(X, (40, 1)))
    monkeypatch.chdir(tmp_path)
    found = facts(capsys, "learn", path, "--atoms", 8, "--epochs", 20)
    assert [*tmp_path.iterdir()] == [path]
    sizes = {name: found[name] for name in ("n_samples", "n_features", "n_passes", "n_steps")}
    assert sizes == {
        "n_samples": 80_000,
        "n_features": 30,
        "n_passes": 20,
        "n_steps": 20 * -(-80_000 // found["batch_size"]),
    }
    assert found["is_told"]
    assert found["mapped"] == 80_000 * 30 * 4 < found["memory"]
    assert 0 < found["n_measured"] < 20 * 80_000  # only a part was learned
    assert found["seconds"] > 0.2
    run("learn", path, "--atoms", 8, "--epochs", 20, "--estimate")
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("80,000 rows of 30 columns, 20 passes: ")
    assert "of memory, 9.6 MB of it pages of files" in said[1]
    assert said[2].startswith("a step: ")
    assert [*tmp_path.iterdir()] == [path]


def test_an_estimate_is_near_what_a_run_takes(tmp_path, capsys, short, monkeypatch):
    """Within a factor of 3 of the time of the processor, which others leave alone, nearly."""
    path = tmp_path / "x.npy"
    np.save(path, np.tile(X, (10, 1)))
    words = ["learn", path, "--atoms", 8, "--epochs", 20]
    run(*words, "--out", tmp_path / "warm", "--json")  # kernels are loaded once in a process
    began = time.process_time()
    run(*words, "--out", tmp_path / "run", "--json")
    taken = time.process_time() - began
    monkeypatch.setattr(estimate, "time", SimpleNamespace(perf_counter=time.process_time))
    said = facts(capsys, *words)
    assert said["n_measured"] < 200_000
    assert 1 / 3 < said["seconds"] / taken < 3


def test_without_an_estimate_a_folder_is_needed(tmp_path, capsys):
    path = tmp_path / "x.npy"
    np.save(path, X)
    assert "--out" in refused(capsys, "learn", path)


def test_small_inputs_come_many_times_and_then_settle(tmp_path, capsys, short):
    path = tmp_path / "x.npy"
    np.save(path, X[:1_000])
    found = facts(capsys, "learn", path, "--atoms", 3)
    assert (found["n_passes"], found["n_rounds"]) == (25, 25)
    found = facts(capsys, "learn", path, "--atoms", 3, "--epochs", 2)
    assert (found["n_passes"], found["n_rounds"]) == (2, 0)


@pytest.mark.parametrize("n_steps", range(7, 17))
def test_rounds_are_timed_wherever_in_a_pass_the_steps_have_ended(
    tmp_path, capsys, monkeypatch, n_steps
):
    """Eight steps are a pass: the timed ones may end with it, or one before."""
    monkeypatch.setattr(estimate, "LONG", 0.0)
    monkeypatch.setattr(estimate, "SHORT", 0.0)
    monkeypatch.setattr(estimate, "MIN_STEPS", n_steps)
    path = tmp_path / "x.npy"
    np.save(path, X)
    found = facts(capsys, "learn", path, "--atoms", 8)
    assert found["n_rounds"] > 0
    assert found["seconds"] > 0


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl"])
@pytest.mark.parametrize("n_rows", [40, 60_000])
def test_lines_are_counted_in_the_beginning_of_long_files(tmp_path, ending, n_rows):
    """Rows whose lines are of unequal lengths; a long file has more than is looked at."""
    rng = np.random.default_rng(0)
    rows = [",".join(row) for row in rng.integers(0, 10**6, (n_rows, 20)).astype(str)]
    lines = [f"[{row}]" for row in rows] if ending == ".jsonl" else ["a," * 19 + "b", *rows]
    text = "\n".join(lines).encode()  # without an end of the last line
    path = tmp_path / f"x{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    [source] = open_inputs([str(path)])
    assert source.n_rows is None
    assert source.about_rows() == pytest.approx(n_rows, rel=0.02 if n_rows > 40 else 0)


def test_standard_input_and_other_kinds_have_no_estimate(capsys):
    with standard_input("1,2\n3,4\n"):
        assert "standard input does not tell" in refused(capsys, "learn", "-", "--estimate")
    offered = {name for name in kinds_of_runs() if task_named(name).work is not Task.work}
    assert offered == {"", *of_fields("estimated")}
    for name in kinds_of_runs().keys() - offered:
        words = declared("tasks")[name]["command"].split()
        assert "No such option" in refused(capsys, *words, "x.txt", "--estimate")


@pytest.mark.parametrize("name", of_fields("estimated"))
def test_kinds_of_fields_have_one(tmp_path, capsys, short, name):
    make, known = of_fields("estimated")[name]
    found = facts(capsys, *make(tmp_path))
    assert {key: found[key] for key in known} == known
    assert found["n_measured"] < found["n_samples"] * found.get("n_passes", 1)


def test_shares_say_what_decides(tmp_path, capsys, short):
    """Few rows a step of many features leave time to the atoms, many rows to the codes."""
    wide, narrow = tmp_path / "wide.npy", tmp_path / "narrow.npy"
    rng = np.random.default_rng(0)
    np.save(wide, rng.random((4_000, 3_000)).astype(np.float32))
    np.save(narrow, rng.random((100_000, 40)).astype(np.float32))
    words = ["--atoms", 200, "--batch-size", 8, "--epochs", 9]
    of_wide = facts(capsys, "learn", wide, *words)["shares"]
    words = ["--atoms", 40, "--batch-size", 2048, "--epochs", 20]
    of_narrow = facts(capsys, "learn", narrow, *words)["shares"]
    assert next(iter(of_narrow)) == "coding"
    assert of_wide["atoms"] > 5 * of_narrow["atoms"]
    for shares in (of_wide, of_narrow):
        assert [*shares.values()] == sorted(shares.values(), reverse=True)
        assert 0.5 < sum(shares.values()) <= 1 + 1e-9


def test_rounds_over_slots_have_one(tmp_path, capsys, short):
    path = tmp_path / "x.npy"
    np.save(path, np.tile(X, (50, 1)))
    found = facts(capsys, "learn", path, "--atoms", 8, "--slots", 2, "--epochs", 3)
    sizes = [found[name] for name in ("n_samples", "n_features", "n_passes", "batch_size")]
    assert sizes == [100_000, 30, 3, 128]
    assert 0 < found["n_measured"] < 300_000


def test_kernels_that_are_compiled_meanwhile_do_not_count():
    """They are compiled in the first step, and on the way: numba tells of them."""
    from numba.core import event

    class Late:
        """Four steps of a tenth of a second, of which the others compile for half a second."""

        complete, advanced = True, 0

        def work(self):
            return Work(4, 1)

        def notes(self):
            return {}

        def advance(self, pace):
            for n in range(1, 5):
                pace.note(SimpleNamespace(n_samples_seen_=n))
                with event.trigger_event("numba:compile"):
                    time.sleep(0.5 * (n % 2))
                time.sleep(0.1)
                pace.rest()

    assert 0.4 <= estimate.estimate(Late()).seconds < 0.9


def test_words_name_what_is_not_told():
    work = Work(1, 2, 3, 4, 5, is_told=False)
    said = Estimate(work, 90.0, 2.1e9, {}, 1).sentences("row")
    assert said.splitlines() == [
        "about 1 row of 2 columns, 3 passes and up to 4 rounds: 3 steps of 5",
        "about 90 s and 2.1 GB of memory",
    ]
    unknown = Estimate(work, 7200.0, None, {}, 1)
    assert unknown.sentences("row").splitlines()[1] == "about 2.0 h"
    assert unknown.facts()["memory"] is None


@pytest.mark.parametrize(
    ("entry", "option"), [("nan", "say --missing"), ("-3", "use --model dictionary")]
)
def test_bad_entries_are_refused_in_the_words_of_commands(tmp_path, capsys, entry, option):
    path = tmp_path / "bad.csv"
    path.write_text(f"a,b\n1,2\n{entry},4\n5,6\n")
    sentence = refused(capsys, "learn", path, "--atoms", "2", "--estimate")
    assert option in sentence
    assert str(path) in sentence
