"""Does reading limit learning? The reference patches from an array, and as runs from three formats.

``python benchmarks/files.py`` writes ``files.json``: seconds of one pass, contenders interleaved,
one thread for coding (reading has a thread of its own); and what a checkpoint costs.
"""

from __future__ import annotations

import json
import logging
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet
from workload import N_ATOMS, patches

from atomstream import OnlineNMF
from atomstream.callbacks import Callback
from atomstream.runs.folder import RunFolder
from atomstream.runs.run import PAUSE, Run
from atomstream.runs.tasks.rows import RowsSettings, RowsTask

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


def main() -> None:
    """Measure, and write the results."""
    X, _ = patches()
    X64 = X.astype(np.float64)
    learn_array(X[: 4 * BATCH], 0.03)  # compile
    results: dict[str, dict[str, list[float]]] = {}
    saves: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_inputs(folder, X)
        sizes = {kind: path.stat().st_size for kind, path in paths.items()}
        for alpha in ALPHAS:
            times: dict[str, list[float]] = {
                kind: [] for kind in ("float32 array", "float64 array", *paths)
            }
            for number in range(ROUNDS):
                times["float32 array"].append(learn_array(X, alpha))
                times["float64 array"].append(learn_array(X64, alpha))
                for kind, path in paths.items():
                    seconds, saved = learn_file(
                        path, folder / f"run-{alpha}-{number}-{kind}", alpha
                    )
                    times[kind].append(seconds)
                    saves.append(saved)
            results[str(alpha)] = times
    told = {
        "rows": len(X),
        "megabytes": {kind: round(size / 1e6) for kind, size in sizes.items()},
        "seconds": results,
        # Lines of text become float64; .npy and .parquet hold float32 here.
        "ratios": {
            alpha: {
                f"{kind} / {base}": round(
                    statistics.median(t / a for t, a in zip(times[kind], times[base], strict=True)),
                    3,
                )
                for kind, base in PAIRS
            }
            for alpha, times in results.items()
        },
        "checkpoint_seconds": statistics.median(saves),
        "checkpoint_share": statistics.median(saves) / PAUSE,
    }
    (Path(__file__).parent / "files.json").write_text(json.dumps(told, indent=1) + "\n")
    logging.info(json.dumps(told["ratios"]))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
