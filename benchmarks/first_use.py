"""What the first use costs, where no kernel is compiled: every estimator and command, and the demo.

``python benchmarks/first_use.py`` writes ``results/first-use.json``: wall-clock seconds. Each case
has a process of its own and begins with an empty cache of kernels. An estimator of the tests' zoo
is fitted and used twice in its process; a command and the demo run twice. What the second time
takes is the work itself.
"""

import copy
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmark_records import save

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = {  # {turn} is 1 or 2
    "learn": "learn table.csv --atoms 5 --out learned{turn}",
    "learn --loss kl": "learn table.csv --atoms 5 --loss kl --out kl{turn}",
    "learn, pictures": "learn picture.png --patch 8 --atoms 100 --out pictures{turn}",
    "encode": "encode learned1 table.csv --out codes{turn}.csv",
    "plot": "plot learned1",
    "report": "report learned1",
    "consensus": "consensus table.csv --atoms 4-5 --replicates 5 --out programs{turn}",
    "image denoise": "image denoise picture.png --out clean{turn}.png",
    "network learn": "network learn edges.txt --motif path:5 --atoms 4 --out network{turn}",
    "network reconstruct": "network reconstruct network1 --steps 5000 --out rebuilt{turn}.csv",
    "series forecast": "series forecast table.csv --atoms 4 --window 6 --out series{turn}",
    "tensor learn": "tensor learn cube.npy --atoms 4 --out tensor{turn}",
    "text topics": "text topics lines.txt --topics 3 --out topics{turn}",
    "video learn": "video learn cube.npy --atoms 4 --out video{turn}",
    "walk partition": "walk partition states.csv --states --rank 3 --clusters 3 --out walk{turn}",
}


def models():
    """Return estimators with their data, and what each does with data once it has learned."""
    sys.path.append(str(ROOT / "tests"))
    from sklearn.datasets import load_digits
    from zoo import ZOO

    from atomstream import OnlineConvexMF, OnlineNMF

    found = {name: (model, data(), way) for name, (model, data, way) in ZOO.items()}
    X = load_digits().data
    digits = {
        "digits, 10 atoms": OnlineNMF(10, random_state=0),
        "digits, 100 atoms": OnlineNMF(100, random_state=0),
        "digits, 10 atoms, kl": OnlineNMF(10, loss="kl", random_state=0),
        "digits, convex, 10 atoms": OnlineConvexMF(10, random_state=0),
    }
    return found | {name: (model, X, "transform") for name, model in digits.items()}


def timed(name):
    """Print the seconds of a fit and of a use of what was learned, the first and second time."""
    model, data, way = models()[name]
    for _ in range(2):
        began = time.perf_counter()
        fresh = copy.deepcopy(model).fit(data)
        learned = time.perf_counter()
        getattr(fresh, way)(data) if isinstance(way, str) else way(fresh, data)
        print(learned - began, time.perf_counter() - learned)


def write_inputs(folder):
    """Write what the commands read."""
    import networkx as nx
    import numpy as np
    import pandas as pd
    from PIL import Image
    from sklearn.datasets import load_digits, load_sample_image

    rng = np.random.default_rng(0)
    pd.DataFrame(load_digits().data[:, 2:14]).to_csv(folder / "table.csv", index=False)
    Image.fromarray(load_sample_image("china.jpg")[:200, :300]).convert("L").save(
        folder / "picture.png"
    )
    graph = nx.barabasi_albert_graph(300, 4, seed=0)
    nx.write_edgelist(graph, folder / "edges.txt", data=False)
    np.save(folder / "cube.npy", rng.random((40, 12, 10)))
    words = np.array(["cat", "mouse", "dog", "bond", "stock", "market", "rain", "wind", "sun"])
    lines = (" ".join(rng.choice(words, 6)) for _ in range(300))
    (folder / "lines.txt").write_text("\n".join(lines), encoding="utf-8")
    states = np.cumsum(rng.integers(-1, 2, 2000)) % 12
    (folder / "states.csv").write_text("\n".join(map(str, states)), encoding="utf-8")


def run(words, folder, cache):
    """Return the wall-clock seconds of a process, and what it printed."""
    env = os.environ | {"NUMBA_CACHE_DIR": cache, "MPLBACKEND": "agg"}
    began = time.perf_counter()
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-500:]}")
    return time.perf_counter() - began, done.stdout


def main():
    """Time all and write the record."""
    results = {"estimators": {}, "commands": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        for case in models():
            with tempfile.TemporaryDirectory() as cache:
                _, said = run([sys.executable, __file__, case], folder, cache)
            fits_and_uses = [float(word) for word in said.split()[-4:]]
            results["estimators"][case] = {"fit": fits_and_uses[::2], "use": fits_and_uses[1::2]}
            print(case, results["estimators"][case], flush=True)
        demo = f"{sys.executable} {ROOT / 'examples/photograph.py'} demo{{turn}}"
        program = f"{sys.executable} -m atomstream "
        cases = {case: program + words for case, words in COMMANDS.items()} | {"the demo": demo}
        for case, words in cases.items():
            with tempfile.TemporaryDirectory() as cache:
                results["commands"][case] = [
                    run(words.format(turn=turn).split(), folder, cache)[0] for turn in (1, 2)
                ]
            print(case, results["commands"][case], flush=True)
    save("first-use", results)


if __name__ == "__main__":
    timed(sys.argv[1]) if len(sys.argv) > 1 else main()
