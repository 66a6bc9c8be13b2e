"""Learn from 10^7 samples, and tell resident memory on the way: ``results/flat-memory.json``."""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import numpy as np
from benchmark_records import save

from atomstream import OnlineNMF
from atomstream.watch.callbacks import History


def resident():
    with open("/proc/self/statm") as status:
        return int(status.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def main(n_samples=10_000_000, batch=1000, d=64, r=16):
    """Learn from the stream, and leave resident memory at four of its samples."""
    rng = np.random.default_rng(0)
    atoms = rng.random((r, d)).astype(np.float32)
    points, looks = {}, (200_000, 2_000_000, n_samples // 2, n_samples - batch)

    def stream():
        """Yield batches of random mixtures, noting the memory at some of them."""
        for i in range(n_samples // batch):
            if i * batch in looks:
                points[i * batch] = resident()
                print(f"{i * batch:>10,d} samples: {points[i * batch]:.2f} MB", flush=True)
            yield rng.random((batch, r), dtype=np.float32) @ atoms

    OnlineNMF(r, alpha=0.1, random_state=0).set_callbacks(History()).fit_stream(stream())
    save("flat-memory", {"MB": points})


if __name__ == "__main__":
    main()
