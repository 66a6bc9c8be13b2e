"""Classify grey patches by material: a perceptron on their spectra."""

import warnings
from typing import Self

import numpy as np
import scipy  # what is in it is loaded at its first use
from numpy.typing import NDArray

HIDDEN = (32,)
MAX_ITER = 200


def features(rows: NDArray, size: int) -> NDArray:
    """Return the means of grey patches and the logarithms of their Fourier magnitudes.

    Magnitudes hardly change when a patch is shifted, so a texture looks the same wherever it is
    cut.

    Parameters
    ----------
    rows : ndarray of shape (n, size * size)
        White is 1.
    size : int

    Returns
    -------
    ndarray of shape (n, size * (size // 2 + 1))
        The mean stands in the place of the logarithm of frequency zero.
    """
    patches = rows.reshape(-1, size, size).astype(float)
    means = patches.mean(axis=(1, 2))
    # Without its zeros at both ends, which would cut off a pixel on each side.
    window = np.hanning(size + 2)[1:-1]
    magnitudes = np.abs(np.fft.rfft2((patches - means[:, None, None]) * np.outer(window, window)))
    # The summand keeps logarithms of flat patches within the range of all others.
    found = np.log(magnitudes + 1e-3).reshape(len(rows), -1)
    found[:, 0] = means
    return found


class PatchClassifier:
    """A multilayer perceptron, fitted by scikit-learn and kept as arrays: its file runs no code.

    Parameters
    ----------
    size : int
        Height and width of a patch.

    Attributes
    ----------
    mean, scale : ndarray of shape (n_features,)
        Mean and scale by which features are standardised.
    weights : list of ndarray of shape (n_in, n_out)
        One per layer; hidden layers return their positive parts.
    biases : list of ndarray of shape (n_out,)
    """

    SAVED = ("size", "mean", "scale", "weights", "biases")

    def __init__(self, size: int) -> None:
        self.size = size
        self.mean, self.scale = np.zeros(0), np.ones(0)
        self.weights: list[NDArray] = []
        self.biases: list[NDArray] = []

    def validate(self, size: int, n_classes: int) -> None:
        """Refuse layers read from a file that do not fit together."""
        n_in = size * (size // 2 + 1)
        good = self.size == size and self.mean.shape == self.scale.shape == (n_in,)
        good &= len(self.weights) == len(self.biases) > 0 and bool((self.scale > 0).all())
        for weights, biases in zip(self.weights, self.biases, strict=True):
            good &= weights.shape == (n_in, len(biases))
            good &= weights.dtype.kind == biases.dtype.kind == "f"
            n_in = len(biases)
        if not good or n_in != n_classes:
            raise ValueError("layers of a classifier that do not fit together")

    def fit(self, rows: NDArray, labels: NDArray, seed: int) -> Self:
        """Learn from grey patches, (n, size * size), and the numbers of their materials, (n,)."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.neural_network import MLPClassifier

        found = features(rows, self.size)
        # A feature that never varies is left at 0 rather than divided by 0.
        self.mean, self.scale = found.mean(axis=0), np.maximum(found.std(axis=0), 1e-6)
        network = MLPClassifier(HIDDEN, max_iter=MAX_ITER, early_stopping=True, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit((found - self.mean) / self.scale, labels)
        self.weights, self.biases = list(network.coefs_), list(network.intercepts_)
        if self.weights[-1].shape[1] == 1:  # two classes: the one output is the logit of the second
            self.weights[-1] = np.hstack([np.zeros_like(self.weights[-1]), self.weights[-1]])
            self.biases[-1] = np.concatenate([[0.0], self.biases[-1]])
        return self

    def probabilities(self, rows: NDArray) -> NDArray:
        """Return the probability of each material, (n, n_materials)."""
        layer = (features(rows, self.size) - self.mean) / self.scale
        for weights, biases in zip(self.weights[:-1], self.biases[:-1], strict=True):
            layer = np.maximum(layer @ weights + biases, 0)
        layer = layer @ self.weights[-1] + self.biases[-1]
        return scipy.special.softmax(layer, axis=1)
