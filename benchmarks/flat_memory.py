"""Learn from 10^7 samples and print how resident memory changes: run on request, takes minutes."""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import numpy as np

from atomstream import OnlineNMF
from atomstream.watch.callbacks import History


def resident():
    with open("/proc/self/statm") as status:
        return int(status.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def main(n_samples=10_000_000, batch=1000, d=64, r=16):
    """Learn from the stream and print resident memory near its start, middle and end."""
    rng = np.random.default_rng(0)
    atoms = rng.random((r, d)).astype(np.float32)
    points = []

    def stream():
        """Yield batches of random mixtures, noting the memory at three of them."""
        for i in range(n_samples // batch):
            if i in (200, n_samples // batch // 2, n_samples // batch - 1):
                points.append((i * batch, resident()))
                print(f"{i * batch:>10,d} samples: {points[-1][1]:.2f} MB", flush=True)
            yield rng.random((batch, r), dtype=np.float32) @ atoms

    OnlineNMF(r, alpha=0.1, random_state=0).set_callbacks(History()).fit_stream(stream())
    print(f"growth from the first to the last point: {points[-1][1] - points[0][1]:+.2f} MB")


if __name__ == "__main__":
    main()
