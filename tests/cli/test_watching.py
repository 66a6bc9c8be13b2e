"""``watch``: what the screen tells, in 80 columns, for runs at work, stopped, complete and old."""

import io
import json
import math
import shutil
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from atomstream.cli import main, watching
from atomstream.looks.pages import edited_table
from atomstream.runs import lock
from atomstream.runs.folder import RunFolder
from atomstream.watch.history import Trace

GOLDEN = Path(__file__).parents[1] / "golden/runs"
SETTINGS = ("--atoms", "2", "--holdout", "0")


def screen(folder, width=80, height=24):
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    console.print(watching._Screen(RunFolder(folder)).shown(width, height))
    return console.file.getvalue()


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watch")
    np.save(folder / "x.npy", np.random.default_rng(0).random((1000, 5)))
    words = ["learn", str(folder / "x.npy"), "--atoms", "3", "--epochs", "3", "--batch-size", "50"]
    assert main([*words, "--out", str(folder / "run")]) == 0
    return folder / "run"


def test_a_complete_run_fits_into_eighty_columns_and_twenty_four_lines(learned):
    lines = screen(learned).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    text = " ".join("\n".join(lines).split())
    assert text.startswith("complete: ")
    assert " samples in 60 steps" in text
    for title in ("objective", "atoms moved", "samples that weigh", "drift"):
        assert title in text


def test_pictures_have_numbers_and_leave_room_for_marks(tmp_path):
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 255, (30, 30), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    words = ["learn", tmp_path / "a.png", "--atoms", 12, "--patch", 8, "--epochs", 1]
    words += ["--batch-size", 20, "--holdout", 0.1, "--out", tmp_path / "run"]
    assert main([*map(str, words)]) == 0
    look = watching._Screen(RunFolder(tmp_path / "run"))
    look.shown(80)
    points = look._trace.points
    points["n_alarms"] = list(range(len(points["n_alarms"])))
    console = Console(width=80, file=io.StringIO(), force_terminal=False)
    console.print(look.shown(80, 24))
    lines = console.file.getvalue().splitlines()
    assert len(lines) == 24
    assert max(map(len, lines)) <= 80
    assert sum("Change of the stream" in line for line in lines) == 2
    most = edited_table(look._record, 8).rows
    (heads,) = (line for line in lines if line.startswith("atom ") and "code" not in line)
    assert heads.split()[1::2] == [str(row[0]) for row in most[: len(heads.split()) // 2]]
    assert len(heads.split()) >= 6
    assert sum("%" in line for line in lines) >= 3


def test_watching_once_prints_and_writes_a_page(learned, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["watch", str(learned), "--once", "--html", str(page)]) == 0
    assert "complete" in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    assert "samples that weigh" in text
    assert "<title>" in text
    assert "color-scheme: light dark" in text
    assert "http-equiv" not in text  # complete: nothing will change
    assert "src=" not in text


@pytest.mark.parametrize("name", [path.name for path in GOLDEN.iterdir() if "-" in path.name])
def test_runs_of_older_releases_can_be_watched(name, tmp_path):
    shutil.copytree(GOLDEN / name, tmp_path / name)
    text = screen(tmp_path / name)
    assert "nan" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_time_left_is_that_of_the_passes_left(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((500, 5)))
    words = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--epochs", "3"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    look = watching._Screen(RunFolder(tmp_path / "run"))
    look.shown(80)
    trace, record = look._trace, look._record
    assert watching._left(record, trace) == ""  # complete
    half = len(trace.n_samples) // 2
    trace.points = {name: values[:half] for name, values in trace.points.items()}
    monkeypatch.setattr(type(record), "complete", False)
    a_pass, rate = record.notes["horizon"], watching._rate(trace)
    left = (3 * a_pass - trace.n_samples[-1]) / rate
    assert watching._left(record, trace) == f", {watching._duration(left)} left"
    monkeypatch.setitem(record.notes, "horizon", float("inf"))  # the first pass is under way
    assert watching._left(record, trace) == ""


def test_a_run_at_work_is_followed_until_it_is_complete(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((500, 5)))
    words = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--out", str(tmp_path / "run")]
    assert main([*words, "--max-time", "0s"]) == 0
    look = watching._Screen(RunFolder(tmp_path / "run"))
    look.shown(80)
    assert not look.complete
    resumed = threading.Thread(target=main, args=(["resume", str(tmp_path / "run")],))
    resumed.start()
    deadline = time.monotonic() + 60
    while not look.complete and time.monotonic() < deadline:
        look.shown(80)
        time.sleep(0.01)
    resumed.join()
    assert look.complete


def test_a_stopped_run_says_since_when_there_is_no_news(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((500, 5)))
    words = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--out", str(tmp_path / "run")]
    assert main([*words, "--max-time", "0s"]) == 0
    assert "stopped: " in screen(tmp_path / "run")
    with RunFolder(tmp_path / "run").writing():
        assert "learning: " in screen(tmp_path / "run")
    (tmp_path / "run/model.atoms").rename(tmp_path / "model.atoms")
    assert "Atoms are shown once the first checkpoint is written." in screen(tmp_path / "run")
    (tmp_path / "model.atoms").rename(tmp_path / "run/model.atoms")
    later = time.time() + 3700
    monkeypatch.setattr(watching.time, "time", lambda: later)
    assert "no news for 1 h 1 min" in screen(tmp_path / "run")


@pytest.fixture
def live(tmp_path, monkeypatch):
    """Learn lines of standard input, or go on with a run; return its folder."""

    def learned(*words):
        lines = b"".join(b"%d,%d,1\n" % (row % 7, row % 5) for row in range(200))
        monkeypatch.setattr("atomstream.io.texts.standard_input", io.BytesIO(lines).read)
        assert main([*words]) == 0
        return tmp_path / "run"

    return lambda *words: learned(
        *(words or ("learn", "-", *SETTINGS, "--out", str(tmp_path / "run")))
    )


@pytest.fixture
def terminal(monkeypatch):
    """Watch in a terminal until that ends; return what is on it then."""

    def watched(folder):
        file = io.StringIO()
        how = {"width": 80, "height": 24, "file": file, "force_terminal": True}
        monkeypatch.setattr(watching, "Console", lambda: Console(**how))
        monkeypatch.setattr(watching, "PAUSE", 0.01)
        watch = partial(watching.watch.callback, folder, once=False, html=None)
        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        thread.join(10)
        assert not thread.is_alive(), "the watching does not end"
        return file.getvalue()

    return watched


def test_a_stream_that_has_ended_is_complete_and_its_watching_ends(live, terminal, capsys):
    folder = live()
    assert "complete: " in terminal(folder)
    capsys.readouterr()
    assert main(["inspect", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["complete"] is True


def test_a_stream_that_has_ended_goes_on_with_what_comes(live, monkeypatch):
    folder = live()
    looks = []

    def resumed(*_):
        looks.append(screen(folder).split(":")[0])

    monkeypatch.setattr(RunFolder, "write_settings", resumed)  # called by resume, when it holds it
    live("resume", str(folder), "--json")
    assert looks == ["learning"]
    assert "400 samples" in screen(folder)
    assert "complete: " in screen(folder)


def test_the_watching_of_a_run_that_has_stopped_ends(tmp_path, terminal):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((500, 5)))
    words = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--out", str(tmp_path / "run")]
    assert main([*words, "--max-time", "0s"]) == 0
    shown = terminal(tmp_path / "run")
    assert "stopped: " in shown
    assert "The run has stopped; continue it with: atomstream resume " in shown
    with RunFolder(tmp_path / "run").writing():  # whoever looks holds nothing
        pass


def test_looks_do_not_keep_a_run_from_going_on(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path)
    (tmp_path / ".lock").touch()  # of a run that was killed
    looking = (tmp_path / ".lock").open("rb")
    lock.lock(looking, "LOCK_SH")
    monkeypatch.setattr(lock.time, "sleep", lambda _: looking.close())
    with folder.writing():
        assert folder.at_work
    assert not folder.at_work


def test_sparklines():
    assert watching.sparkline(np.arange(8.0), 8) == "▁▂▃▄▅▆▇█"
    assert watching.sparkline(np.arange(80.0), 4) == "▁▃▆█"
    assert watching.sparkline(np.array([1.0, math.nan, 1.0]), 9) == "▁ ▁"
    assert watching.sparkline(10.0 ** -np.arange(8), 8) == "█▇▆▅▄▃▂▁"


def test_alarms_are_told(learned):
    trace = Trace()
    for name, values in trace.points.items():
        values.extend([[0.5, 0.5]] * 3 if name == "usage" else [1.0, 2.0, 3.0])
    trace.points["n_alarms"] = [0, 1, 1]
    trace.points["n_changeovers"] = [0, 0, 2]
    trace.points["n_samples"] = [50, 100, 150]
    told = [str(line) for line in watching._curves(trace, 80)]
    assert told[-2:] == [
        "Change of the stream at 100 samples",
        "The schedule left the past behind at 150 samples",
    ]


def test_what_is_no_run_is_refused(tmp_path, capsys):
    assert main(["watch", str(tmp_path)]) == 2
    assert "holds no run" in capsys.readouterr().err
