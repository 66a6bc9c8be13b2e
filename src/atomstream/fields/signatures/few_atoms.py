"""Codes of counts that use few atoms: an atom stays where the counts need it."""

import numpy as np
from numpy.typing import NDArray

MIN_EXPECTED = 1e-6  # counts of a row that one of the atoms has to expect in a possible feature
MIN_FITTED = 1e-100  # what stands for 0 in a reconstruction: its square is still a number
SMALLEST = 1e-3  # share of a row's counts below which an atom leaves the first code at once
START = 1e-6  # share of a row's counts that an entry begins with: zeros would never be tried
ENTERING = 1e-3  # the same for an atom that comes back
SWEEPS = 5  # between looks at the divergence
MAX_SWEEPS, GAIN = 1000, 1e-4  # sweeps at most, and the nats that five of them have to gain
TRIED = 3  # atoms, those that seem to be needed least, before none is taken out
MAX_ADDED = 5  # atoms that come back at most
RIDGE = 1e-12  # of the mean curvature: two equal atoms have a curvature without an inverse


def possible(X: NDArray, atoms: NDArray) -> NDArray:
    """Return which features of each row its atoms can make: some atom expects counts there.

    An atom that makes all counts of a row expects at least a millionth of one in such a feature.
    What a row has elsewhere has no likelihood under any code, and says nothing about its code.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Counts.
    atoms : ndarray of shape (n_components, n_features)
        Of sum one.

    Returns
    -------
    ndarray of bool of shape (n_samples, n_features)
    """
    found: NDArray = X.sum(axis=1, keepdims=True) * atoms.max(axis=0) > MIN_EXPECTED
    return found


def few_codes(X: NDArray, atoms: NDArray, allowed: NDArray | None = None) -> NDArray:
    r"""Return nonnegative codes of counts under Kullback-Leibler, each with few atoms.

    Row by row :math:`\sum_f (y_f - x_f + x_f \log(x_f / y_f)) + p\,\|h\|_0` with y = h D is made
    small: from the code of all atoms the one that is needed least is taken out, as long as the
    divergence rises by less than p; then atoms come back that lower it by more. The price of an
    atom is that of the Bayesian information criterion, :math:`p = \phi \log(n) / 2` with n the sum
    of the row; :math:`\phi \ge 1` is the dispersion, twice the divergence of the first code over
    the degrees of freedom, which is 1 for Poisson counts of the atoms given. Sums are over the
    features that are `possible`, and a row without counts there has a code of zeros.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Counts, of a positive sum in each row.
    atoms : ndarray of shape (n_components, n_features)
        Of sum one.
    allowed : ndarray of bool of shape (n_samples, n_components), optional
        Atoms that a row may use; with it all of them stay, and none is taken out.

    Returns
    -------
    ndarray of shape (n_samples, n_components)

    References
    ----------
    Schwarz (1978), "Estimating the dimension of a model", Annals of Statistics 6; McCullagh, Nelder
    (1989), "Generalized linear models", section 9.2, the dispersion. Atoms are proposed by the
    saliency of Hassibi, Stork (1993), "Second order derivatives for network pruning".
    """
    X, atoms = np.asarray(X, np.float64), np.asarray(atoms, np.float64)
    codes, seen = np.zeros((len(X), len(atoms))), possible(X, atoms)
    for i in np.flatnonzero((X * seen).any(axis=1)):
        row = _Row(X[i, seen[i]], atoms[:, seen[i]])
        if allowed is None:
            codes[i], _ = row.selected()
        else:
            places = np.flatnonzero(allowed[i])
            start = np.full(len(places), row.total / max(len(places), 1))
            codes[i], _ = row.fitted(places, start)
    return codes


class _Row:
    """The counts of one sample, and codes of them on some of the atoms."""

    def __init__(self, x: NDArray, atoms: NDArray) -> None:
        self.x, self.atoms, self.total = x, atoms, float(x.sum())
        self._places = np.flatnonzero(x)
        self._seen = x[self._places]

    def fitted(self, places: NDArray, start: NDArray) -> tuple[NDArray, float]:
        """Return the code on these atoms that is nearest, and its divergence."""
        from atomstream._kernels.divergence import sweep

        atoms, fitted = self.atoms[places], np.empty(len(self._places))
        stored = np.array([0, len(self._places)]), self._places, self._seen
        still, sums = np.zeros((1, len(places)), bool), atoms.sum(axis=1)
        found, value, before = start[None].copy(), np.inf, np.inf
        for _ in range(MAX_SWEEPS // SWEEPS):
            for _ in range(SWEEPS):
                sweep(found, stored, atoms, sums[None], still, fitted)
            value = float(self._seen @ np.log(self._seen / fitted) - self.total + found[0] @ sums)
            if before - value <= GAIN:
                break
            before = value
        code = np.zeros(len(self.atoms))
        code[places] = found[0]
        # Counts that none of these atoms can make: the kernel divides by a stand-in for 0 there.
        return code, value if fitted.min() > MIN_FITTED else np.inf

    def _made(self, code: NDArray) -> NDArray:
        """Return the reconstruction, above 0: where no atom of the code has counts it is zero."""
        made: NDArray = np.maximum(code @ self.atoms, MIN_FITTED)
        return made

    def selected(self) -> tuple[NDArray, float]:
        """Return the code of few atoms, and its divergence."""
        n_atoms = len(self.atoms)
        code, _ = self.fitted(np.arange(n_atoms), np.full(n_atoms, self.total / n_atoms))
        parts, kept = code[:, None] * self.atoms[:, self._places], code > SMALLEST * self.total
        # Without an atom that alone makes some of the counts these would have no likelihood.
        bare = parts[kept].sum(axis=0) < MIN_EXPECTED
        kept |= (parts[:, bare] >= MIN_EXPECTED).any(axis=1)
        places = np.flatnonzero(kept)
        code, value = self.fitted(places, code[places] + START * self.total)
        freedom = max(len(self._places) - len(places), 1)
        price = max(1.0, 2 * value / freedom) * np.log(max(self.total, 2.0)) / 2
        code, value = self._without(code, value, price)
        return self._with(code, value, price)

    def _without(self, code: NDArray, value: float, price: float) -> tuple[NDArray, float]:
        """Take atoms out as long as one costs more than it explains."""
        while (places := np.flatnonzero(code)).size > 1:
            atoms, y = self.atoms[places], self._made(code)
            curvature = (atoms * (self.x / y**2)) @ atoms.T
            curvature += RIDGE * np.trace(curvature) * np.eye(len(places))
            # What the divergence rises by without an atom, to the second order.
            needed = code[places] ** 2 / np.diag(np.linalg.inv(curvature))
            for place in places[np.argsort(needed, kind="stable")[:TRIED]]:
                rest = places[places != place]
                tried, without = self.fitted(rest, code[rest] + START * self.total)
                if without - value < price:
                    code, value = tried, without
                    break
            else:
                break
        return code, value

    def _with(self, code: NDArray, value: float, price: float) -> tuple[NDArray, float]:
        """Take the atom that promises most back in, as long as it explains more than it costs."""
        for _ in range(MAX_ADDED):
            y = self._made(code)
            pull = (self.atoms @ (self.x / y)) - self.atoms.sum(axis=1)
            curvature = self.atoms**2 @ (self.x / y**2)
            # An atom that has none of the counts has no curvature, and nothing to gain.
            free = (code == 0) & (curvature > 0)
            gain = np.maximum(pull, 0) ** 2 / (2 * np.where(free, curvature, np.inf))
            best = int(gain.argmax())
            places = np.append(np.flatnonzero(code), best)
            start = np.append(code[places[:-1]], ENTERING * self.total)
            tried, within = self.fitted(places, start)
            if code[best] > 0 or value - within < price:
                break
            code, value = tried, within
        return code, value
