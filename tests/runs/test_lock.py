"""A lock is held by one alone, and its file is there no longer than that."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from atomstream.cli import main
from atomstream.runs.folder import RunFolder
from atomstream.runs.lock import is_locked, locked

POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows removes no open file")


def test_the_file_is_there_while_the_lock_is_held(tmp_path):
    path = tmp_path / "lock"
    for _ in range(2):
        assert not is_locked(path)
        with locked(path):
            assert path.exists()
            assert is_locked(path)
            with pytest.raises(BlockingIOError), locked(path):
                pytest.fail("held twice")
            assert is_locked(path)  # the one who was refused has taken nothing
        assert not path.exists()
    with pytest.raises(KeyboardInterrupt), locked(path):
        raise KeyboardInterrupt
    assert not path.exists()
    assert not is_locked(path)


def test_a_file_that_a_killed_process_left_is_taken_over(tmp_path):
    path = tmp_path / "lock"
    code = (
        "import os, sys; from pathlib import Path; from atomstream.runs.lock import locked\n"
        "with locked(Path(sys.argv[1])): os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, path], check=False).returncode == 9
    assert path.exists()
    assert not is_locked(path)
    with locked(path):
        assert is_locked(path)
    assert not path.exists()


@POSIX
def test_a_file_that_is_removed_between_opening_and_locking_locks_nothing(tmp_path, monkeypatch):
    path, opened = tmp_path / "lock", type(tmp_path).open
    holding = locked(path)
    holding.__enter__()

    def late(self, *mode):
        file = opened(self, *mode)
        monkeypatch.undo()
        holding.__exit__(None, None, None)  # removes what was just opened
        return file

    monkeypatch.setattr(type(tmp_path), "open", late)
    with locked(path):
        assert path.exists()
        assert is_locked(path)
    assert not path.exists()


@POSIX
def test_the_lock_of_another_is_never_removed(tmp_path):
    path = tmp_path / "lock"
    with locked(path):
        path.unlink()  # as by hand
        other = locked(path)
        other.__enter__()
    assert is_locked(path)
    other.__exit__(None, None, None)
    assert not path.exists()


def test_of_many_who_come_and_go_one_alone_holds_it(tmp_path):
    path, inside, most, n_held = tmp_path / "lock", [0], [0], [0]

    def come_and_go():
        for _ in range(100):
            try:
                with locked(path):
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    n_held[0] += 1
                    inside[0] -= 1
            except BlockingIOError:
                continue

    threads = [threading.Thread(target=come_and_go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, inside) == ([1], [0])
    assert n_held[0] > 0
    assert not path.exists()


def test_nothing_stays_of_the_lock_of_a_run_that_ended(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((300, 5)))
    words = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--out", str(tmp_path / "run")]
    assert main([*words, "--max-time", "0"]) == 0
    assert not (tmp_path / "run/.lock").exists()
    assert main(["resume", str(tmp_path / "run")]) == 0
    assert main(["inspect", str(tmp_path / "run")]) == 0
    assert not (tmp_path / "run/.lock").exists()
    assert not [*temporary.iterdir()]


def test_a_run_that_learned_nothing_leaves_no_folder(tmp_path):
    folder = RunFolder(tmp_path / "a/b/run")
    with pytest.raises(AttributeError), folder.beginning(None, []):
        pytest.fail("begun without settings")
    assert not [*tmp_path.iterdir()]
