"""K-SVD: a rival of two benchmarks, ``denoising.py`` and ``sparse_model.py``.

As Elad and Aharon (2006) have it: all columns are coded with the atoms of the round, and then each
atom and its entries are updated by one step of the power method on what the others leave.
"""

import numpy as np

__all__ = ["k_svd_round"]


def k_svd_round(columns, atoms, codes):
    """Update atoms (columns) and codes (sparse, a row for each atom) in their places."""
    rest = columns - (codes.T @ atoms.T).T
    for k in range(atoms.shape[1]):
        start, end = codes.indptr[k : k + 2]
        users, values = codes.indices[start:end], codes.data[start:end]
        if not len(users):
            worst = (rest**2).sum(axis=0).argmax()
            atoms[:, k] = columns[:, worst] / max(np.linalg.norm(columns[:, worst]), 1e-12)
            continue
        own = rest[:, users] + np.outer(atoms[:, k], values)
        atom = own @ values
        atoms[:, k] = atom / max(np.linalg.norm(atom), 1e-12)
        codes.data[start:end] = own.T @ atoms[:, k]
        rest[:, users] = own - np.outer(atoms[:, k], codes.data[start:end])
