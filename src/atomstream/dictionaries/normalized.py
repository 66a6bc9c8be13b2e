"""Dictionaries whose atoms are sums over the stream, scaled to one total."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Columns
from atomstream.base.saved_fields import array, number, one_of, part
from atomstream.dictionaries.rows import Derived, Rows
from atomstream.penalties.base import Penalty


class Normalized(Derived):
    r"""Atoms :math:`D_{kf} = s_k M_{fk}^e + b`, formed only where somebody looks at them.

    Parameters
    ----------
    sums : Columns of shape (n_features, n_components)
        M.
    power : float
        e.
    moments : (ndarray of shape (n_components,), ndarray of shape (n_components, n_components))
        Sums of the columns of :math:`M^e`, and their inner products.
    scale : (ndarray of shape (n_components,), float)
        s and b.
    dtype : dtype
        Type of the atoms' entries.

    Attributes
    ----------
    own : ndarray of int of shape (n_own,)
        Atoms that are not made of sums; `own_rows` holds these.
    """

    SAVED = (
        *(part("sums", Columns), number("power"), array("sizes", "r", finite=True)),
        *(array("inner", "r r", finite=True), array("scale", "r", finite=True), number("base")),
        *(
            one_of("kind", ("float32", "float64")),
            array("own", "n", np.int64, at_least=0, below="r"),
        ),
        array("own_rows", "n d", finite=True),
    )
    _known: Rows | None = None
    _gram: NDArray | None = None
    own: NDArray
    own_rows: NDArray

    def __init__(
        self,
        sums: Columns,
        power: float,
        moments: tuple[NDArray, NDArray],
        scale: tuple[NDArray, float],
        dtype: Any,
    ) -> None:
        self.sums, self.power = sums, power
        self.sizes, self.inner = moments
        self.scale, self.base = scale
        self.kind = np.dtype(dtype).name
        self._keep(np.empty(0, np.int64), np.empty((0, sums.shape[0]), dtype))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of atoms and of features."""
        n_features, n_components = self.sums.shape
        return n_components, n_features

    @property
    def dtype(self) -> np.dtype:
        """Type of the atoms' entries."""
        return np.dtype(self.kind)

    @property
    def rows(self) -> Rows:
        """The atoms as a dictionary of rows, formed once."""
        if self._known is None:
            self._known = self.on(slice(None))
        return self._known

    def on(self, features: Any) -> Rows:
        """Return the atoms on some of the features."""
        sums = self.sums.read(features)
        columns = (sums if self.power == 1 else sums**self.power) * self.scale + self.base
        columns[:, self.own] = self.own_rows[:, features].T
        return Rows(columns.T.astype(self.dtype, copy=False))

    def totals(self) -> NDArray:
        """Return the sums of the atoms in float64."""
        totals = self.scale * self.sizes + self.shape[1] * self.base
        totals[self.own] = self.own_rows.sum(axis=1, dtype=np.float64)
        return totals

    def gram(self) -> NDArray:
        """Return the inner products of the atoms in float64."""
        if self._gram is None:
            part, d = self.scale * self.sizes, self.shape[1]
            # The product of s m + b and s' m' + b, summed over all features.
            gram = self.inner * self.scale * self.scale[:, None]
            gram += self.base * (part + part[:, None] + d * self.base)
            if len(self.own):
                atoms = self.atoms().astype(np.float64, copy=False)
                gram[self.own] = atoms[self.own] @ atoms.T
                gram[:, self.own] = gram[self.own].T
            self._gram = gram
        return self._gram

    def with_own(self, own: NDArray, rows: NDArray) -> Normalized:
        """Return the dictionary with these rows in the places of some atoms."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        twin._keep(own, rows)
        return twin

    def replace(self, index: NDArray, rows: NDArray, atoms: Penalty) -> None:
        """Put rows in the places of some atoms."""
        whole = self.atoms().copy()
        whole[index] = rows
        own = np.union1d(self.own, index)
        self._keep(own, whole[own])

    def assign(self, rows: NDArray) -> None:
        """Replace all atoms; their type stays."""
        self._keep(np.arange(len(rows)), rows)

    def _keep(self, own: NDArray, rows: NDArray) -> None:
        rows = np.ascontiguousarray(rows, dtype=self.dtype)
        vars(self).update(own=own.astype(np.int64), own_rows=rows, _known=None, _gram=None)
