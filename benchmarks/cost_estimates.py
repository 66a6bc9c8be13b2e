"""Are the estimates of ``--estimate`` near what runs take? Twelve cases that nothing was set by.

``python benchmarks/cost_estimates.py`` writes ``results/cost-estimates.json``: seconds and memory
that were said, and those of the run that follows, in processes of their own. The clock is that of
the processor, so that others on the machine do not count; ``wall`` takes that of the wall.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from benchmark_records import DATA, save

# A command in a process that tells its peak; for the processor's clock the others are replaced.
COMMAND = """
import resource, sys, time
if {processor}:
    time.perf_counter = time.monotonic = time.process_time
from atomstream.cli import main
code = main(sys.argv[1:])
print("peak", 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.exit(code)
"""


def mixed(rng, n, d, n_parts=12):
    """Return mixtures of random parts, with noise."""
    parts = rng.random((n_parts, d))
    return rng.random((n, n_parts)) ** 4 @ parts + 0.1 * rng.random((n, d))


def memory_map(folder, rng):
    """Write 600,000 rows of 64 features in float32."""
    path = folder / "map.npy"
    np.save(path, np.tile(mixed(rng, 60_000, 64).astype(np.float32), (10, 1)))
    return ["learn", path, "--atoms", 48]


def lines(folder, rng):
    """Write 60,000 lines of a table."""
    path = folder / "table.csv"
    names = ",".join(f"c{k}" for k in range(40))
    np.savetxt(path, mixed(rng, 60_000, 40), "%.5g", ",", header=names, comments="")
    return ["learn", path, "--atoms", 30, "--epochs", 20]


def packed_lines(folder, rng):
    """Write 50,000 packed lines of whole numbers."""
    path = folder / "packed.csv.gz"
    with gzip.open(path, "wb") as file:
        np.savetxt(file, 100 * mixed(rng, 50_000, 60), "%d", ",")
    return ["learn", path, "--atoms", 20, "--epochs", 25]


def sparse_counts(folder, rng):
    """Write the counts of words of newsgroups, 11,256 x 1,000, sparse."""
    import scipy.sparse as sp

    held = np.load(DATA / "news20/news20_train_counts_w1000.npz")
    X = sp.csr_array((held["data"], held["indices"], held["indptr"]), tuple(held["shape"]))
    path = folder / "news.npz"
    sp.save_npz(path, X.astype(np.float64))
    return ["learn", path, "--loss", "kl", "--atoms", 60]


def paintings(folder, rng):
    """Take the patches of five paintings, in colour."""
    return ["learn", DATA / "paintings", "--patch", 10, "--atoms", 80, "--per-image", 80_000]


def dense_counts(folder, rng):
    """Write 60,000 rows of counts in float64."""
    path = folder / "counts.npy"
    np.save(path, rng.poisson(3 * mixed(rng, 60_000, 100)).astype(float))
    return ["learn", path, "--loss", "kl", "--atoms", 15, "--epochs", 12]


def signed(folder, rng):
    """Write 80,000 rows of both signs."""
    path = folder / "signed.npy"
    np.save(path, rng.standard_normal((80_000, 20)) @ rng.standard_normal((20, 120)))
    return ["learn", path, "--model", "dictionary", "--alpha", 0.2, "--atoms", 150, "--epochs", 2]


def representatives(folder, rng):
    """Write 30,000 rows for atoms that are made of 60 of them."""
    path = folder / "convex.npy"
    np.save(path, mixed(rng, 30_000, 50))
    convex = ["--model", "convex", "--representatives", 60]
    return ["learn", path, *convex, "--atoms", 6, "--epochs", 12]


def parquet(folder, rng):
    """Write 150,000 rows in float32 as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "table.parquet"
    columns = mixed(rng, 150_000, 30).astype(np.float32).T
    pq.write_table(pa.table({f"c{k}": column for k, column in enumerate(columns)}), path)
    return ["learn", path, "--atoms", 25, "--epochs", 8]


def to_the_end(folder, rng):
    """Write the last 4,000 digits of a set, which come many times and settle."""
    path = folder / "digits.npy"
    images = np.load(DATA / "mnist/mnist_8000.npz")["images"][4_000:]
    np.save(path, images.reshape(len(images), -1) / 255.0)
    return ["learn", path, "--atoms", 150]


def frames(folder, rng):
    """Take the frames of a video as tensors of 60 x 71 x 3."""
    path = folder / "frames.npy"
    found = np.load(DATA / "mouse_cortex/frames_0000_0999.npz")["frames"]
    np.save(path, found.astype(np.float32) / 255)
    return ["tensor", "learn", path, "--atoms", 12]


def friends(folder, rng):
    """Take the patches of a network of 4,039 people."""
    edges = DATA / "networks/snap_ego_facebook.txt.gz"
    return ["network", "learn", edges, "--motif", "path:10", "--atoms", 30, "--batches", 3_000]


CASES = (
    *(memory_map, lines, packed_lines, sparse_counts, paintings, dense_counts, signed),
    *(representatives, parquet, to_the_end, frames, friends),
)


def told(words, clock):
    """Return what a command tells, and the peak of its memory."""
    code = COMMAND.format(processor=clock == "processor")
    command = [sys.executable, "-c", code, *map(str, words), "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    *_, facts, peak = done.stdout.splitlines()
    return json.loads(facts), float(peak.split()[1])


def compared(case, folder, clock):
    """Return what was said of a case and what it took."""
    words = case(folder, np.random.default_rng(11))
    # Kernels are compiled once on a machine, and their memory is not that of the run.
    told([*words, "--estimate"], clock)
    said, _ = told([*words, "--estimate"], clock)
    taken, peak = told([*words, "--out", folder / "run"], clock)
    subprocess.run(["rm", "-r", folder / "run"], check=True)
    row = {
        "command": " ".join(word.name if isinstance(word, Path) else str(word) for word in words),
        "samples": said["n_samples"],
        "features": said["n_features"],
        "passes": said["n_passes"],
        "rounds": said["n_rounds"],
        "measured": said["n_measured"] / (said["n_samples"] * said["n_passes"]),
        "seconds": [said["seconds"], taken["seconds"]],
        "megabytes": [said["memory"] / 1e6, peak / 1e6],
        "shares": said["shares"],
    }
    print(case.__name__, row, flush=True)
    return row


def main(clock="processor"):
    """Compare all cases, and write the record."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            found[case.__name__.replace("_", " ")] = compared(case, Path(folder), clock)
    save("cost-estimates", {"clock": clock, "cases": found})


if __name__ == "__main__":
    main(*sys.argv[1:])
