"""What has become slower? The code of another commit against that of this tree, case by case.

python benchmarks/guard.py                     # against the last release, or yesterday's code
python benchmarks/guard.py --against COMMIT    # against any other
python benchmarks/guard.py --cases patches walks --rounds 9

Two processes, one for each code, run every case in turns, in an order that changes sides (ABBA).
What counts is the processor time of the case itself; compilation and the first call are over by
then. A case counts as slower where the median ratio is above 1.10, and the command ends with 1.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SLOWER, ROUNDS = 1.10, 5
THREADS = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")


def patches(rng):
    """Learn 100 atoms from 20,000 patches with a penalty."""
    from atomstream import OnlineNMF

    X = rng.random((20_000, 10)) ** 4 @ rng.random((10, 144)) + 0.1 * rng.random((20_000, 144))
    return lambda: OnlineNMF(100, alpha=0.1, n_epochs=1, random_state=0).fit(X)


def photographs(rng):
    """Learn 100 atoms from 20,000 patches of photographs with a small penalty: many entries."""
    from workload import patches, start

    from atomstream import OnlineNMF

    X, _ = patches()
    first = start(X)
    return lambda: OnlineNMF(100, alpha=0.03, n_epochs=1, init=first).fit(X[:20_000])


def codes(rng):
    """Exact codes of 10,000 rows under 100 atoms."""
    from atomstream import sparse_encode

    X, atoms = rng.random((10_000, 144)), rng.random((100, 144))
    return lambda: sparse_encode(X, atoms, alpha=0.1)


def rows_one_by_one(rng):
    """Learn 1,500 rows, one in each call."""
    from atomstream import OnlineNMF

    X = rng.random((1_500, 144))

    def learn():
        model = OnlineNMF(20, random_state=0).partial_fit(X[:64])
        for row in X:
            model.partial_fit(row[None])

    return learn


def divergence(rng):
    """Learn dense counts under the Kullback-Leibler divergence."""
    from atomstream import OnlineNMF

    X = rng.poisson(5 * rng.random((8_000, 5)) @ rng.random((5, 200))).astype(float)
    return lambda: OnlineNMF(20, loss="kl", n_epochs=1, random_state=0).fit(X)


def sparse_counts(rng):
    """Learn sparse counts of 5,000 features under the same divergence."""
    import scipy.sparse as sp

    from atomstream import OnlineNMF

    X = sp.random_array((5_000, 5_000), density=0.01, format="csr", rng=rng)
    X.data = np.ceil(5 * X.data)
    return lambda: OnlineNMF(20, loss="kl", n_epochs=1, random_state=0).fit(X)


def short_texts(rng):
    """Learn texts of eight words among 30,000: a batch touches a twentieth of the words."""
    import scipy.sparse as sp

    from atomstream import OnlineNMF

    words = np.minimum(rng.zipf(1.3, (10_000, 8)), 30_000) - 1
    places = np.arange(0, words.size + 1, 8)
    X = sp.csr_array((np.ones(words.size), words.ravel(), places), (10_000, 30_000))
    X.sum_duplicates()
    return lambda: OnlineNMF(15, loss="kl", n_epochs=1, random_state=0).fit(X)


def few_entries(rng):
    """Learn 300 atoms with codes of ten entries."""
    from atomstream import OnlineDictionaryLearning
    from atomstream.penalties import TopK

    X = rng.standard_normal((4_000, 30)) @ rng.standard_normal((30, 100))
    settings = {"codes": TopK(10), "alpha": 0, "n_epochs": 1, "random_state": 0}
    return lambda: OnlineDictionaryLearning(300, **settings).fit(X)


def convex(rng):
    """Learn 5 atoms that are convex combinations of 2,000 rows."""
    from atomstream import OnlineConvexMF

    X = rng.random((2_000, 30))
    return lambda: OnlineConvexMF(5, n_epochs=1, random_state=0).fit(X)


def tensor(rng):
    """Decompose a tensor of 60 x 60 x 60."""
    from atomstream import online_parafac

    factors = [rng.random((60, 5)) for _ in range(3)]
    X = np.einsum("ir,jr,kr->ijk", *factors) + 0.1 * rng.random((60, 60, 60))
    return lambda: online_parafac(X, 5, n_epochs=10, random_state=0)


def walks(rng):
    """Learn 12 clusters of 300 states from 200,000 steps."""
    from atomstream import RandomWalkFactorization

    steps = rng.integers(0, 300, 200_001)
    return lambda: RandomWalkFactorization(12, n_states=300, random_state=0).fit(steps)


def motifs(rng):
    """Move a motif of 10 nodes 50,000 times over a network of 400 nodes."""
    from atomstream.samplers import MotifGlauber

    graph = np.triu(rng.random((400, 400)) < 0.05, 1)
    chain = MotifGlauber((graph | graph.T).astype(float), np.eye(10, k=1))
    start = chain.init(np.random.default_rng(0))
    return lambda: chain.run(np.random.default_rng(1), start, 50_000)


def at_hand(rng):
    """Fit digits to the end, as most people do first."""
    from sklearn.datasets import load_digits

    from atomstream import OnlineNMF

    X = load_digits().data
    return lambda: OnlineNMF(16, random_state=0).fit(X)


CASES = {
    case.__name__: case
    for case in (
        *(patches, photographs, codes, rows_one_by_one, divergence, sparse_counts, short_texts),
        *(few_entries, convex, tensor, walks, motifs, at_hand),
    )
}


def serve():
    """Run the cases whose names come in, and answer with their seconds; null where one fails."""
    warnings.simplefilter("ignore")
    ready = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in ready:
            try:
                ready[name] = CASES[name](np.random.default_rng(0))
                ready[name]()  # compiles, and warms up
            except Exception as error:
                print(f"{name}: {error}", file=sys.stderr)
                ready[name] = None
        if ready[name] is None:
            print("null", flush=True)
            continue
        began = time.process_time()
        ready[name]()
        print(json.dumps(time.process_time() - began), flush=True)


@contextmanager
def checked_out(commit):
    """Give a folder with the code of a commit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "code"
        _git("worktree", "add", "--detach", str(path), commit)
        try:
            yield path
        finally:
            _git("worktree", "remove", "--force", str(path))


@contextmanager
def serving(source):
    """Give a process with the code of a folder."""
    path = os.pathsep.join([str(source), str(Path(__file__).parent)])
    apart = {"PYTHONPATH": path}
    command = [sys.executable, __file__, "--serve"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, env=os.environ | THREADS | apart
    )
    try:
        yield process
    finally:
        process.kill()


def asked(process, name):
    """Return the seconds that a case takes in one of the processes."""
    process.stdin.write(name + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def compared(before, now, name, rounds):
    """Return the ratios of now to before, one for each round; none where old code cannot do it."""
    ratios = []
    for turn in range(rounds):
        first, second = (before, now) if turn % 2 == 0 else (now, before)
        times = {id(first): asked(first, name), id(second): asked(second, name)}
        if times[id(now)] is None:
            sys.exit(f"{name} fails.")
        if times[id(before)] is None:
            return []
        ratios.append(times[id(now)] / times[id(before)])
    return ratios


def last_release():
    """Return the newest tag, or the last commit before today where there is none yet."""
    tags = _git("tag", "--sort=-creatordate").split()
    before = _git("rev-list", "-1", "--before=midnight", "HEAD").split()
    found = tags[:1] or before
    return found[0] if found else sys.exit("There is no older commit to compare with.")


def _git(*words):
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def main():
    """Compare all cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", help="commit (default: the last release, or yesterday's code)")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        return serve()
    commit, slower, began = given.against or last_release(), [], time.perf_counter()
    code, ours = checked_out(commit), serving(ROOT / "src")
    with code as other, serving(other / "src") as before, ours as now:
        print(f"seconds now over seconds at {commit[:12]}: median, lowest, highest")
        for name in given.cases:
            ratios = compared(before, now, name, given.rounds)
            if not ratios:
                print(f"{name:<18} not in that code", flush=True)
                continue
            middle = statistics.median(ratios)
            slower += [name] * (middle > SLOWER)
            low, high = min(ratios), max(ratios)
            mark = "  SLOWER" if middle > SLOWER else ""
            print(f"{name:<18} {middle:6.2f} {low:6.2f} {high:6.2f}{mark}", flush=True)
        print(f"{time.perf_counter() - began:.0f} s")
    return int(bool(slower))


if __name__ == "__main__":
    import numpy as np

    sys.exit(main())
