"""Run the benchmarks and experiments whose record is not of the commit that is checked out.

``make bench`` runs them here; while they run, the checkout must stay at its commit. In another
environment, or in a clone that stays while work goes on here::

    python benchmarks/everything.py --checkout CLONE --minutes 90

What times threads, processes or a first call comes first, with nothing beside it (`ALONE`); then
everything else, as many at a time as there are cores, with one thread each, and what took least the
last time first. Run again, it goes on with what is left. The record of before lies beside the new
one, as ``NAME.before``, until that one is finished, and comes back where a command fails.
``--judged`` runs what was judged once, and is not asked to be of the newest commit.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
JUDGED = "benchmarks/judged"
# Scripts that write one record with the name of its argument in it.
PARTS = {
    "at_hand.py": ("at-hand", "squared kl is l1"),
    "coding_cases.py": ("coding-cases", "tuned others"),
    "coherence.py": ("coherence", "news novel"),
    "consensus.py": ("consensus", "choices intervals rival speed"),
    "cost.py": ("cost", "nmf convex cp network"),
    "denoising.py": ("denoising", "15 25 50"),
    "engine.py": ("engine", "quality cost"),
    "entry_weights.py": ("entry-weights", "squared other-losses stream"),
    "etth2.py": ("etth2", "one-step windows"),
    "forecasts.py": ("forecasts", "judged seen speed"),
    "ground.py": ("ground", "texts motifs pivots words cubes wide"),
    "guides.py": ("guides", "missing movies"),
    "learning.py": ("learning", "rows threads many starts"),
    "links.py": (
        "links",
        "karate les-miserables power-law preferential-attachment small-world blocks "
        "directed-blocks caltech ego-facebook co-authors",
    ),
    "outliers.py": ("outliers", "paper levels decays days bumps gamma dense"),
    "rare_parts.py": ("rare-parts", "programs divergence genomes"),
    "signatures.py": ("signatures", "published refit"),
    "traffic.py": ("traffic", "Birmingham NYC rivals"),
}
# The other scripts with their arguments, and the records that each writes.
OTHERS = {
    "authors.py": "labels-authors",
    "cells.py": "cells",
    "coding.py": "coding",
    "cost_estimates.py": "cost-estimates",
    "divergences.py": "divergences",
    "divergences.py batch": "divergences-batch",
    "divergences.py one-atom": "divergences-one-atom",
    "drift.py": "drift",
    "drift.py searched": "drift-searched",
    "engine_scale.py": "engine-scale",
    "files.py": "files",
    "first_use.py": "first-use",
    "flat_memory.py": "flat-memory",
    "labels.py": "labels",
    "labels.py words": "labels-words",
    "live_sources.py": "sources-live",
    "million_cells.py {scratch}/million-cells": "million-cells",
    "networks.py": "networks",
    "networks.py batch": "networks-batch",
    "peers.py": "peers",
    "real_streams.py": "real-streams",
    "shared_atoms.py": "shared-atoms-cells shared-atoms-planted",
    "sources.py --esat {esat}": "sources-fits",
    "sparse_model.py": "sparse-model",
    "sparse_model.py rivals": "sparse-model-rivals",
    "tensors.py": "tensors",
    "unmixing.py": "unmixing-cubes",
    "verdicts.py": "verdicts",
    "walks.py": "walks",
}
# Cells of `signatures.py genomes`: signatures, noise, seed and genomes of each.
GENOMES = tuple(product((5, 10, 20, 30), (0.0, 0.05), range(4), (200, 1000)))
# Experiments whose records have a command each; of the others the script says which it saves.
EACH = {
    "exp_001_4_mnist.py": "001-4",
    "exp_001_4_mnist.py batch": "001-4-batch",
    "exp_004_7_protocol.py 1": "004-7-protocol",
    "exp_004_7_protocol.py 2": "004-7-subject-2",
}
ALONE = re.compile(
    r"peers|coding|learning-.*|engine-(cost|scale)|files|first-use|consensus-speed|ground-.*|"
    r"million-cells|sparse-model.*|forecasts-speed|walks|networks.*|tensors|000-2-coding|"
    r"004-5-protocol|004-6"
)
# These set the number of threads of each contender themselves.
THREADS = re.compile(r"coding|learning-threads")


def place(words: str) -> str:
    """Return the words of a command of a benchmark with the place of its script."""
    folder = JUDGED if (HERE / JUDGED / words.split()[0]).exists() else "benchmarks"
    return f"{folder}/{words}"


def commands() -> dict[tuple[str, ...], list[str]]:
    """Return what to run for the records of each tuple, relative to the folder of a checkout."""
    made = {
        (f"{name}-{part.lower()}",): [f"{place(script)} {part}"]
        for script, (name, parts) in PARTS.items()
        for part in parts.split()
    }
    made |= {tuple(names.split()): [place(words)] for words, names in OTHERS.items()}
    genomes = (" ".join(map(str, cell)) for cell in GENOMES)
    made["signatures-genomes",] = [place(f"signatures.py genomes {cell}") for cell in genomes]
    for path in sorted((HERE / "experiments").glob("exp_*.py")):
        if not any(words.startswith(path.name) for words in EACH):
            names = re.findall(r'\bsave\("([^"]+)"', path.read_text(encoding="utf-8"))
            made[tuple(names)] = [f"experiments/{path.name}"]
    return made | {(name,): [f"experiments/{words}"] for words, name in EACH.items()}


class Checkout:
    """A checkout whose records are made anew.

    Parameters
    ----------
    folder : Path
    esat : str
        A Python that has esat installed.
    """

    def __init__(self, folder: Path, esat: str) -> None:
        self.folder, self.esat = folder, esat
        told = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
        self.commit = subprocess.run(
            told, capture_output=True, text=True, check=True
        ).stdout.strip()

    def path(self, name: str) -> Path:
        """Return the file of a record."""
        part = "experiments" if name[:3].isdigit() else "benchmarks"
        part = JUDGED if (self.folder / JUDGED / f"results/{name}.json").exists() else part
        return self.folder / part / "results" / f"{name}.json"

    def record(self, name: str) -> dict:
        """Return a record."""
        return json.loads(self.path(name).read_text(encoding="utf-8"))

    def left(self, *, judged: bool = False) -> dict[tuple[str, ...], list[str]]:
        """Return what is of another commit, and its commands, quick ones first."""
        found = {
            names: told
            for names, told in commands().items()
            if told[0].startswith(JUDGED) == judged and not self.finished(names)
        }
        return dict(sorted(found.items(), key=lambda each: self.seconds(each[0])))

    def finished(self, names: tuple[str, ...]) -> bool:
        """Return whether all records of a tuple are of this commit, and no run broke off."""
        return self.written(names) and not any(path.exists() for path in self.before(names))

    def written(self, names: tuple[str, ...]) -> bool:
        """Return whether all records of a tuple are here, and of this commit."""
        return all(
            self.path(name).exists() and self.record(name)["commit"] == self.commit
            for name in names
        )

    def before(self, names: tuple[str, ...]) -> list[Path]:
        """Return where records of before lie while new ones are made."""
        return [self.path(name).with_suffix(".before") for name in names]

    def seconds(self, names: tuple[str, ...]) -> float:
        """Return how long the records of a tuple took the last time, 0 for new ones."""
        return sum(self.record(name)["seconds"] or 0 for name in names if self.path(name).exists())

    def run(self, names: tuple[str, ...], told: list[str]) -> bool:
        """Make records anew, and return whether they are; if not, they stay as they were."""
        paths, before = [self.path(name) for name in names], self.before(names)
        for path, old in zip(paths, before, strict=True):
            if path.exists() and not old.exists():
                path.replace(old)
            path.unlink(missing_ok=True)  # some keep what they find there
        done, began = False, time.monotonic()
        prints = Path(tempfile.gettempdir()) / f"{names[0]}.log"
        try:
            with prints.open("w") as log:
                done = all(self.call(each, names[0], log) == 0 for each in told)
            done = done and self.written(names)
        finally:
            for path, old in zip(paths, before, strict=True):
                if done:
                    old.unlink(missing_ok=True)
                elif old.exists():
                    old.replace(path)
                else:
                    path.unlink(missing_ok=True)
        said = "made" if done else "FAILED"
        took = time.monotonic() - began
        print(f"{said}: {', '.join(names)}, {took:,.0f} s, prints in {prints}", flush=True)
        return done

    def call(self, command: str, name: str, log: object) -> int:
        """Run a command with what it prints in a file, and return its status."""
        words = command.format(scratch=tempfile.gettempdir(), esat=self.esat).split()
        paths = [str(self.folder / part) for part in ("src", "experiments", "benchmarks")]
        variables = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "agg"}
        if not THREADS.fullmatch(name):
            variables |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        return subprocess.call(
            [sys.executable, *words], cwd=self.folder, env=variables, stdout=log, stderr=log
        )


def main() -> None:
    """Run what is left until the time is over; a command that has begun is run to its end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkout", type=Path, default=HERE, help="Its folder (default: this).")
    parser.add_argument("--minutes", type=float, default=1e6, help="Begin nothing after them.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="At a time, at most.")
    parser.add_argument("--esat", default=".venv-esat/bin/python", help="A Python that has esat.")
    parser.add_argument("--judged", action="store_true", help="What was judged once, instead.")
    parser.add_argument("--list", action="store_true", help="Say what is left, and end.")
    options = parser.parse_args()
    checkout = Checkout(options.checkout.resolve(), str(Path(options.esat).absolute()))
    until = time.monotonic() + 60 * options.minutes
    left = checkout.left(judged=options.judged)
    if options.list:
        print("\n".join(f"{', '.join(names)}: {checkout.seconds(names):,.0f} s" for names in left))
        return

    def in_time(names: tuple[str, ...]) -> bool:
        return time.monotonic() > until or checkout.run(names, left[names])

    alone, right = [names for names in left if ALONE.fullmatch(names[0])], []
    for n_jobs, some in ((1, alone), (options.jobs, [each for each in left if each not in alone])):
        with ThreadPoolExecutor(n_jobs) as workers:
            right += workers.map(in_time, some)
    sys.exit(not all(right))


if __name__ == "__main__":
    main()
