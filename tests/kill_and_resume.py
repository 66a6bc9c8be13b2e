"""Kill a run at many instants, take it up again, and print how often it ended as if never stopped.

A script, for it forks: ``python kill_and_resume.py FOLDER N``. One process loads and warms up
everything; each run is a child of it that is killed with SIGKILL, at a random time or at a chosen
call while a checkpoint is being written.
"""

import json
import os
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from atomstream.cli import main
from atomstream.files.archive import read_archive
from atomstream.io import files
from atomstream.runs import folder as run_folder

warnings.filterwarnings("ignore", category=DeprecationWarning)  # forking with threads of BLAS about
SETTINGS = [
    "--atoms",
    "6",
    "--epochs",
    "3",
    "--alpha",
    "0.01",
    "--checkpoint-every",
    "0.01",
    "--batch-size",
    "50",
]


def child(*arguments, kill_at=None):
    """Start a command in a fork, which kills itself at writing call ``kill_at``."""
    pid = os.fork()
    if pid:
        return pid
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.dup2(2, 1)
    if kill_at is not None:
        count = [0]

        def deadly(real):
            def call(*args, **kwargs):
                count[0] += 1
                if count[0] == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*args, **kwargs)

            return call

        for module in (files.os, run_folder.os):
            for name in ("fsync", "replace", "link"):
                setattr(module, name, deadly(getattr(module, name)))
    os._exit(main([str(argument) for argument in arguments]))


def wait(pid):
    return os.waitpid(pid, 0)[1]


def result(run):
    """Return all of a run that must be the same, however it got there."""
    content, arrays = read_archive(run / "model.atoms")
    notes = content["notes"]
    for name in ("seconds", "run"):
        notes.pop(name)
    history = content["notes"]["history"]["dict"]
    history.pop("elapsed")
    arrays[history["seconds"]["array"]] = np.empty(0)
    return json.dumps(content), [array.tobytes() for array in arrays]


def go_on(run, arguments):
    """Take a run up again, or begin it where it had not begun."""
    return (
        child("resume", run)
        if (run / "run.toml").exists()
        else child("learn", *arguments, "--out", run)
    )


def inputs(base):
    """Write inputs of several kinds; return what to learn from each."""
    from PIL import Image
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = rng.exponential(size=(1000, 3)) @ rng.random((3, 12)) + 0.01 * rng.random((1000, 12))
    np.save(base / "dense.npy", X)
    np.save(base / "more.npy", X[:277])
    sparse.save_npz(base / "sparse.npz", sparse.csr_array(np.where(X.mean() > X, 0, X)))
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)[:500]
    np.savetxt(base / "holes.csv", holes, delimiter=",", fmt="%.5g")
    (base / "pictures").mkdir()
    for number in range(3):
        pixels = rng.integers(0, 256, (40, 40), np.uint8)
        Image.fromarray(pixels).save(base / "pictures" / f"{number}.png")
    return [
        [base / "dense.npy", *SETTINGS],
        [base / "dense.npy", base / "more.npy", "--half-life", "2000", *SETTINGS],
        [base / "sparse.npz", *SETTINGS],
        [base / "holes.csv", "--missing", *SETTINGS],
        [base / "pictures", "--patch", "4", *SETTINGS],
    ]


if __name__ == "__main__":
    base, n_kills = Path(sys.argv[1]), int(sys.argv[2])
    rng = np.random.default_rng(0)
    kinds = inputs(base)[:: 1 if n_kills > 20 else 2]  # few kills: every second kind
    references, lasts = [], []
    for number, arguments in enumerate(kinds):  # here, so that children have all that is loaded
        assert main([str(a) for a in ("learn", *arguments, "--out", base / f"warm{number}")]) == 0
        began = time.monotonic()
        assert wait(child("learn", *arguments, "--out", base / f"reference{number}")) == 0
        lasts.append(time.monotonic() - began)
        references.append(result(base / f"reference{number}"))
    equal = caught = half_written = 0
    for trial in range(n_kills):
        run, inside, kind = base / f"run{trial}", trial % 3 == 2, trial % len(kinds)
        arguments = kinds[kind]
        pid = child(
            "learn", *arguments, "--out", run, kill_at=int(rng.integers(1, 40)) if inside else None
        )
        for _ in range(1 + trial % 2):
            if not inside:
                time.sleep(rng.uniform(0, lasts[kind]))
                os.kill(pid, signal.SIGKILL)
            caught += os.WIFSIGNALED(wait(pid))
            half_written += any(run.rglob(".*.part"))
            pid = go_on(run, arguments)
            inside = False
        status = wait(pid)
        equal += status == 0 and result(run) == references[kind] and not any(run.rglob(".*.part"))
    print(
        json.dumps(
            {"equal": equal, "caught": caught, "half_written": half_written, "seconds": lasts}
        )
    )
