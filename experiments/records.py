"""Where experiments find their data, and records of results with their commit and date."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("ATOMSTREAM_DATA", Path(__file__).resolve().parents[2] / "shared/data"))
PACKAGES = ("atomstream", "numpy", "scipy", "scikit-learn", "numba")
BEGAN = perf_counter()


@dataclass
class Records:
    """A folder of JSON files: results, and which code gave them on which machine, and when.

    Attributes
    ----------
    folder : Path
        Made by the first record. The folder above it has the scripts.
    packages : tuple of str
        Packages whose versions a record names if they are installed.
    """

    folder: Path
    packages: tuple[str, ...] = PACKAGES

    def save(self, name: str, results: Any, *, seconds: float | None = None) -> None:
        """Write ``<name>.json``.

        Parameters
        ----------
        name : str
            Name of the file without its ending.
        results : dict or list
            Numbers, strings, arrays, lists and dictionaries of them. What is not a number (NaN) or
            not finite becomes null.
        seconds : float, optional
            Wall-clock time of the run; by default since this module was imported.
        """
        scripts = ("src", "experiments/*.py", "benchmarks/*.py", "benchmarks/judged/*.py")
        record = {
            "commit": _git("rev-parse", "--short", "HEAD"),
            "changed": bool(_git("status", "--porcelain", "-uno", "--", *scripts)),
            "date": date.today().isoformat(),
            "seconds": round(perf_counter() - BEGAN if seconds is None else seconds, 1),
            "versions": versions(self.packages),
            "machine": machine(),
            "results": plain(results),
        }
        self.folder.mkdir(exist_ok=True)
        text = json.dumps(record, indent=1, allow_nan=False)
        (self.folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"Wrote results/{name}.json.", flush=True)

    def load(self, name: str) -> dict[str, Any]:
        """Return a record: results, commit, date, seconds, versions and machine."""
        return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))


HERE = Records(RESULTS)
save, load = HERE.save, HERE.load


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of the packages that are installed."""
    found = {}
    for name in packages:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def machine() -> dict[str, Any]:
    """Return the processor, the number of its cores, and the version of Python."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    processor = next(names, platform.machine())
    return {"processor": processor, "cores": os.cpu_count(), "python": platform.python_version()}


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
