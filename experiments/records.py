"""Where experiments find their data and leave their results, each with its commit and date."""

from __future__ import annotations

import json
import math
import os
import subprocess
from datetime import date
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("ATOMSTREAM_DATA", Path(__file__).resolve().parents[2] / "shared/data"))
PACKAGES = ("atomstream", "numpy", "scipy", "scikit-learn", "numba")
BEGAN = perf_counter()


def save(name: str, results: dict, *, seconds: float | None = None) -> None:
    """Write ``results/<name>.json``: the results, and which code gave them, when, in what time.

    Parameters
    ----------
    name : str
        Name of the file without its ending.
    results : dict
        Numbers, strings, arrays, lists and dictionaries of them. What is not a number (NaN) or not
        finite becomes null.
    seconds : float, optional
        Wall-clock time of the experiment; by default since this module was imported.
    """
    seconds = perf_counter() - BEGAN if seconds is None else seconds
    record = {
        "commit": _git("rev-parse", "--short", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "-uno", "--", "src", "experiments/*.py")),
        "date": date.today().isoformat(),
        "seconds": round(seconds, 1),
        "versions": {name: version(name) for name in PACKAGES},
        "results": plain(results),
    }
    write(name, record)


def write(name: str, record: dict) -> None:
    """Write a whole record."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(record, indent=1, allow_nan=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    print(f"Wrote results/{name}.json.", flush=True)


def load(name: str) -> dict:
    """Return the record of an experiment: its results, commit, date, seconds and versions."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def plain(value: Any) -> Any:
    """Return a value as JSON has it: lists for arrays, strings for keys, None for NaN."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _git(*words: str) -> str:
    """Return what git answers in the checkout that holds this file."""
    root = Path(__file__).resolve().parents[1]
    return subprocess.run(
        ["git", *words], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()
