"""Certificates of codes that were found from float32 products of samples and atoms."""

import numpy as np

from atomstream._kernels.certificate import duality_gap
from atomstream._kernels.compile import kernel
from atomstream._kernels.support import fresh_gradient


@kernel
def certify(codes, residual, samples, problem, single):  # type: ignore[no-untyped-def]
    """Write the duality gaps of codes; products that a gap depends on are formed in float64.

    An entry at zero whose slope stays below l1 by more than its product may be off counts nothing,
    whatever its product is. The others are few where codes are sparse.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
    residual : ndarray of shape (n_samples,)
        Receives the gaps.
    samples : (linear, energy)
        As in `active_set.encode`; ``linear`` receives the products that were formed.
    problem : (gram, penalty, bound)
        As there, with l1 > 0.
    single : (X, atoms, rounding)
        Samples and atoms in float32; what ``linear`` may be off, as a part of the two lengths.
    """
    (linear, energy), (gram, penalty, bound), (X, atoms, rounding) = samples, problem, single
    r, (l1, _, low, high) = len(gram), penalty
    gradient, work, index, off = np.empty(r), np.empty(r), np.empty(r, np.int64), np.empty(r)
    rise, fall = 1.0 if high > 0 else 0.0, 1.0 if low < 0 else 0.0
    for k in range(r):
        off[k] = rounding * np.sqrt(gram[k, k])
    for i in range(len(codes)):
        h, sample, length = codes[i], (linear[i], energy[i], rounding), np.sqrt(energy[i])
        fresh_gradient(h, gradient, sample, (gram, penalty), (work, work, work, index))
        size = np.int64(0)  # a literal would be compiled for apart
        for k in range(r):
            least = l1 - off[k] * length
            index[size] = k
            size += (h[k] != 0) | (max(rise * -gradient[k], fall * gradient[k]) >= least)
        for a in range(size):
            k = index[a]
            exact = 0.0
            for j in range(X.shape[1]):
                exact += np.float64(X[i, j]) * np.float64(atoms[k, j])
            gradient[k] += linear[i, k] - exact
            linear[i, k] = exact
        residual[i] = duality_gap(h, gradient, sample, penalty, bound)
