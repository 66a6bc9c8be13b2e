"""A small convolutional network that tells materials apart by grey patches (experiment 003-9)."""

from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

CHANNELS = (16, 32)
STRIDES = (2, 1)  # of the two layers: the second one sees a patch at half the resolution
N_EPOCHS, BATCH_SIZE = 15, 128
RATE, DECAY = 3e-3, 1e-3


class ConvolutionalClassifier:
    """Two convolutions of 3 x 3, their mean over the patch, and a linear layer.

    Torch fits it; it is kept as arrays and evaluated by NumPy, so that its file runs no code and
    torch is not needed to use it.

    Parameters
    ----------
    size : int
        Height and width of a patch.

    Attributes
    ----------
    mean, scale : float
        Mean and scale by which greys are standardised.
    kernels : list of ndarray of shape (n_in, 3, 3, n_out)
        One per convolution; each returns its positive parts.
    weights : ndarray of shape (n_in, n_materials)
    biases : list of ndarray of shape (n_out,)
        Of the convolutions and of the linear layer.
    """

    SAVED = ("size", "mean", "scale", "kernels", "weights", "biases")

    def __init__(self, size: int) -> None:
        self.size = size
        self.mean, self.scale = 0.0, 1.0
        self.kernels: list[NDArray] = []
        self.weights = np.zeros((0, 0), np.float32)
        self.biases: list[NDArray] = []

    def validate(self, size: int, n_classes: int) -> None:
        """Refuse layers read from a file that do not fit together."""
        layers = [*self.kernels, self.weights]
        widths = (1, *CHANNELS, n_classes)
        good = self.size == size and len(layers) == len(self.biases) == len(widths) - 1
        good &= isinstance(self.mean, float) and isinstance(self.scale, float) and self.scale > 0
        for n_in, n_out, layer, bias in zip(widths, widths[1:], layers, self.biases, strict=False):
            good &= layer.shape in ((n_in, 3, 3, n_out), (n_in, n_out)) and bias.shape == (n_out,)
            good &= layer.dtype == bias.dtype == np.float32
        if not good or self.weights.ndim != 2 or any(part.ndim != 4 for part in self.kernels):
            raise ValueError("layers of a classifier that do not fit together")

    def fit(self, rows: NDArray, labels: NDArray, seed: int) -> Self:
        """Learn from grey patches, (n, size * size), and the numbers of their materials, (n,)."""
        import torch

        functions = torch.nn.functional
        rng = np.random.default_rng(seed)
        self.mean, self.scale = float(rows.mean()), max(float(rows.std()), 1e-6)
        layers = [torch.from_numpy(layer).requires_grad_() for layer in _start(labels, rng)]
        optimizer = torch.optim.Adam(layers, lr=RATE, weight_decay=DECAY)
        patches = torch.from_numpy(self._patches(rows)).permute(0, 3, 1, 2)
        truth = torch.from_numpy(labels.astype(np.int64))
        for _ in range(N_EPOCHS):
            order = torch.from_numpy(rng.permutation(len(rows)))
            for batch in order.split(BATCH_SIZE):
                optimizer.zero_grad()
                logits = _logits(functions.conv2d, patches[batch], layers)
                functions.cross_entropy(logits, truth[batch]).backward()
                optimizer.step()
        *kernels, weights = (layer.detach().numpy() for layer in layers[:3])
        # Torch has the outputs first and the inputs second.
        self.kernels = [np.ascontiguousarray(part.transpose(1, 2, 3, 0)) for part in kernels]
        self.weights = np.ascontiguousarray(weights.T)
        self.biases = [layer.detach().numpy() for layer in layers[3:]]
        return self

    def probabilities(self, rows: NDArray) -> NDArray:
        """Return the probability of each material, (n, n_materials)."""
        layer = self._patches(rows)
        for kernel, bias, stride in zip(self.kernels, self.biases[:-1], STRIDES, strict=True):
            layer = np.maximum(_convolved(layer, kernel, stride) + bias, 0)
        return scipy.special.softmax(
            layer.mean(axis=(1, 2)) @ self.weights + self.biases[-1], axis=1
        )

    def _patches(self, rows: NDArray) -> NDArray:
        """Return standardised patches, (n, size, size, 1)."""
        standard = (rows - self.mean) / self.scale
        return standard.astype(np.float32).reshape(-1, self.size, self.size, 1)


def _start(labels: NDArray, rng: np.random.Generator) -> list[NDArray]:
    """Return random kernels and weights in torch's order, then biases of zero."""
    widths = (1, *CHANNELS, int(labels.max()) + 1)
    shapes = [(widths[1], 1, 3, 3), (widths[2], widths[1], 3, 3), (widths[3], widths[2])]
    # He's scale for layers that keep positive parts: signals neither fade nor grow.
    layers = [rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape) for shape in shapes]
    return [part.astype(np.float32) for part in (*layers, *(np.zeros(n) for n in widths[1:]))]


def _logits(convolve: Any, patches: Any, layers: list[Any]) -> Any:
    """Return what the network says of patches, (n, 1, size, size), by torch's ``convolve``."""
    first, second, weights, *biases = layers
    layer = convolve(patches, first, biases[0], stride=STRIDES[0], padding=1).relu()
    layer = convolve(layer, second, biases[1], stride=STRIDES[1], padding=1).relu()
    return layer.mean(dim=(2, 3)) @ weights.T + biases[2]


def _convolved(images: NDArray, kernel: NDArray, stride: int) -> NDArray:
    """Return the convolution of images, (n, height, width, n_in), with zeros around them."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    return np.tensordot(windows[:, ::stride, ::stride], kernel, axes=3)
