"""The synthetic data of Zhao, Tan and Xu, section VII-B: a product, and noise for each divergence.

Table IV of the paper is garbled; what stands here agrees with its text: factors 1 + |N(0, 25)|,
noise of about 30 dB, or outliers of up to 2000 on 30 % of the entries, everything clipped to [0,
4000].
"""

from __future__ import annotations

import numpy as np

N_FEATURES, N_ATOMS = 200, 40
LOSSES = {
    "is": "is",
    "kl": "kl",
    "squared": "squared",
    "huber": "huber:100",
    "l1": "l1",
    "l2": "l2",
}


def synthetic(loss: str, n_samples: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return samples with the noise that suits a loss, and the true atoms."""
    noisy, _, atoms = noisy_and_clean(loss, n_samples, seed)
    return noisy, atoms


def noisy_and_clean(
    loss: str, n_samples: int, seed: int = 0, share: float = 0.3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return samples with noise, the same without it, and the true atoms.

    ``share`` is that of the entries that are outliers, where the loss is a robust one.
    """
    rng = np.random.default_rng(seed)
    atoms = 1 + np.abs(rng.normal(0, 5, (N_ATOMS, N_FEATURES)))
    clean = (1 + np.abs(rng.normal(0, 5, (n_samples, N_ATOMS)))) @ atoms
    if loss == "is":
        noisy = clean * rng.gamma(1000, 1 / 1000, clean.shape)
    elif loss == "kl":
        noisy = rng.poisson(clean).astype(float)
    elif loss == "squared":
        noisy = clean + rng.normal(0, 30, clean.shape)
    else:
        wrong = rng.random(clean.shape) < share
        noisy = clean + wrong * rng.uniform(-2000, 2000, clean.shape)
    return np.clip(noisy, 1e-8, 4000), clean, atoms / atoms.sum(axis=1, keepdims=True)
