"""Does reading limit learning? The reference patches from an array, and as runs from three formats.

``python benchmarks/files.py`` writes ``results/files.json``: seconds of one pass, contenders
interleaved, one thread for coding (reading has a thread of its own); and what a checkpoint costs.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from benchmark_records import save
from pyarrow import csv, parquet
from workload import N_ATOMS, patches

from atomstream import OnlineNMF
from atomstream.runs.folder import RunFolder
from atomstream.runs.run import PAUSE, Run
from atomstream.runs.tasks.rows import RowsSettings, RowsTask
from atomstream.watch.callbacks import Callback

ROUNDS, BATCH = 5, 256
ALPHAS = (0.03, 0.0)
PAIRS = [
    ("npy", "float32 array"),
    ("parquet", "float32 array"),
    ("csv", "float64 array"),
    ("csv", "float32 array"),
]


def write_inputs(folder: Path, X: np.ndarray) -> dict[str, Path]:
    """Write the same rows in three formats and return where."""
    table = pa.table({f"pixel_{i}": X[:, i] for i in range(X.shape[1])})
    paths = {kind: folder / f"x.{kind}" for kind in ("npy", "csv", "parquet")}
    np.save(paths["npy"], X)
    csv.write_csv(table, paths["csv"])
    parquet.write_table(table, paths["parquet"], row_group_size=10_000)
    return paths


def learn_array(X: np.ndarray, alpha: float) -> float:
    """Return the seconds of a pass over the array."""
    model = OnlineNMF(N_ATOMS, alpha=alpha, batch_size=BATCH, random_state=0)
    began = time.perf_counter()
    model.fit_stream(X[start : start + BATCH] for start in range(0, len(X), BATCH))
    return time.perf_counter() - began


def learn_file(path: Path, folder: Path, alpha: float) -> tuple[float, float]:
    """Return the seconds of a pass as a run, and those of the checkpoint at its end."""
    settings = RowsSettings((str(path),), atoms=N_ATOMS, alpha=alpha, batch_size=BATCH, holdout=0.0)
    held = RunFolder(folder)
    held.path.mkdir()
    began = time.perf_counter()
    run = Run(held, RowsTask(settings))
    held.begin(settings, run.task.sources)
    run.run(lambda _: Callback())
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    held.save(run.task.model, run.notes(), settings.keep)
    return seconds, time.perf_counter() - began


def measured(
    X: np.ndarray, paths: dict[str, Path], alpha: float
) -> tuple[dict[str, list[float]], list[float]]:
    """Return seconds of passes over arrays and files in turns, and those of checkpoints."""
    arrays = {"float32 array": X, "float64 array": X.astype(np.float64)}
    times: dict[str, list[float]] = {kind: [] for kind in (*arrays, *paths)}
    saves = []
    for number in range(ROUNDS):
        for kind, array in arrays.items():
            times[kind].append(learn_array(array, alpha))
        for kind, path in paths.items():
            seconds, saved = learn_file(path, path.parent / f"run-{alpha}-{number}-{kind}", alpha)
            times[kind].append(seconds)
            saves.append(saved)
    return times, saves


def ratio(times: dict[str, list[float]], kind: str, base: str) -> float:
    """Return the median of the ratios of seconds in the same round."""
    pairs = zip(times[kind], times[base], strict=True)
    return round(statistics.median(one / two for one, two in pairs), 3)


def main() -> None:
    """Measure, and write the results."""
    X, _ = patches()
    learn_array(X[: 4 * BATCH], 0.03)  # compile
    with tempfile.TemporaryDirectory() as folder:
        paths = write_inputs(Path(folder), X)
        sizes = {kind: round(path.stat().st_size / 1e6) for kind, path in paths.items()}
        found = {str(alpha): measured(X, paths, alpha) for alpha in ALPHAS}
    checkpoint = statistics.median(each for _, saves in found.values() for each in saves)
    results = {
        "rows": len(X),
        "megabytes": sizes,
        "seconds": {alpha: times for alpha, (times, _) in found.items()},
        # Lines of text become float64; .npy and .parquet hold float32 here.
        "ratios": {
            alpha: {f"{kind} / {base}": ratio(times, kind, base) for kind, base in PAIRS}
            for alpha, (times, _) in found.items()
        },
        "checkpoint_seconds": checkpoint,
        "checkpoint_share": checkpoint / PAUSE,
    }
    save("files", results)
    print(results["ratios"])


if __name__ == "__main__":
    main()
