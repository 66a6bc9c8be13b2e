"""Denoising of standard pictures: our default, K-SVD and BM3D.

``judged/denoising.py 25`` writes ``results/denoising-25.json`` for noise of 25 grey
levels; without an argument 15, 25 and 50 are done. The pictures are six of Set12 and 24 of BSD68,
grey, with white noise (seed 0) that is not clipped. Every method has the noisy picture and the
level of the noise alone. The figure is the peak signal-to-noise ratio.

Ours is ``ImageDictionary(random_state=0)`` with ``fit`` and ``denoise``. K-SVD is that of Elad and
Aharon (2006): 256 atoms from overcomplete cosines, ten rounds on 40,000 patches of 8 x 8 less their
means, orthogonal matching pursuit (of SPAMS) to an error of 1.15 times the noise, atoms updated by
one step of the power method, and the noisy picture mixed in with weight 30 / sigma. BM3D is the
package ``bm3d`` of its authors, with its defaults. Seconds are those of the processor, one thread.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import sys
import time

import bm3d
import numpy as np
from benchmark_records import DATA, save
from k_svd import k_svd_round
from numpy.lib.stride_tricks import sliding_window_view
from PIL import Image

from atomstream import ImageDictionary

SIGMAS = (15, 25, 50)
SIDE, N_ATOMS, N_ROUNDS, N_PATCHES, GAIN = 8, 256, 10, 40_000, 1.15


def ours(noisy, sigma):
    """Return the picture that our default makes of a noisy one."""
    return ImageDictionary(random_state=0).fit(noisy).denoise(noisy, sigma)


def patches(picture):
    """Return all patches as columns."""
    return sliding_window_view(picture, (SIDE, SIDE)).reshape(-1, SIDE**2).T


def cosines():
    """Return an overcomplete set of cosines, one in each column."""
    n = int(np.sqrt(N_ATOMS))
    rows = np.cos(np.outer(np.arange(SIDE), np.arange(n)) * np.pi / n)
    rows[:, 1:] -= rows[:, 1:].mean(axis=0)
    rows /= np.linalg.norm(rows, axis=0)
    return np.kron(rows, rows)


def pursuit(columns, atoms, sigma):
    """Return sparse codes with an error of at most that of the noise."""
    from spams import omp  # after benchmark_records: its OpenBLAS

    return omp(
        np.asfortranarray(columns),
        np.asfortranarray(atoms),
        L=SIDE**2 // 2,
        eps=SIDE**2 * (GAIN * sigma) ** 2,
        numThreads=1,
    )


def k_svd(noisy, sigma):
    """Return the picture that K-SVD makes of a noisy one."""
    columns = patches(noisy)
    means = columns.mean(axis=0)
    centred = columns - means
    chosen = np.random.default_rng(0).permutation(columns.shape[1])[:N_PATCHES]
    learned, atoms = np.asfortranarray(centred[:, chosen]), cosines()
    for _ in range(N_ROUNDS):
        codes = pursuit(learned, atoms, sigma).tocsr()
        k_svd_round(learned, atoms, codes)
    made = (pursuit(centred, atoms, sigma).T @ atoms.T) + means[:, None]
    return averaged(made, noisy, 30 / (255 * sigma))


def averaged(rows, noisy, weight):
    """Return the mean of the patches at each pixel, and of the noisy picture with a weight."""
    height, width = noisy.shape
    sums, counts = weight * noisy, np.full(noisy.shape, float(weight))
    cube = rows.reshape(height - SIDE + 1, width - SIDE + 1, SIDE, SIDE)
    for i in range(SIDE):
        for j in range(SIDE):
            place = np.s_[i : i + height - SIDE + 1, j : j + width - SIDE + 1]
            sums[place] += cube[:, :, i, j]
            counts[place] += 1
    return sums / counts


METHODS = {"ours": ours, "K-SVD": k_svd, "BM3D": bm3d.bm3d}


def case(path, sigma):
    """Return the ratio and the seconds of each method on a picture."""
    clean = np.asarray(Image.open(path).convert("L"), float) / 255
    noisy = clean + sigma * np.random.default_rng(0).standard_normal(clean.shape)
    found = {}
    for name, method in METHODS.items():
        began = time.process_time()
        made = method(noisy, sigma)
        seconds = time.process_time() - began
        found[name] = {"psnr": -10 * np.log10(np.mean((made - clean) ** 2)), "seconds": seconds}
    return found


def main(sigmas):
    """Denoise all pictures with each level of noise, and leave a record of each."""
    paths = sorted((DATA / "denoising").glob("*/*.png"))
    ours(np.random.default_rng(0).random((64, 64)), 0.1)  # compiles
    for sigma in sigmas:
        began, found = time.perf_counter(), {}
        for path in paths:
            name = f"{path.parent.name} {path.stem.removeprefix('test')}"
            found[name] = case(path, sigma / 255)
            print(sigma, name, {k: round(v["psnr"], 2) for k, v in found[name].items()}, flush=True)
        save(f"denoising-{sigma}", found, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or SIGMAS)
