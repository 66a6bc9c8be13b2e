"""A matrix of which a change touches few rows, and whose earlier versions stay as they are."""

import weakref
from threading import RLock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base.saved_fields import array


class Columns:
    """A matrix with a row for each feature; `changed` returns a new version of it.

    All versions share one array, that of the newest. An earlier version knows the rows that the
    later one has written over, so a change costs as much as the rows it writes, and whoever holds
    an earlier version (a snapshot, a call that must be undone) still reads what it was. A version
    that is held for long gets an array of its own before what it must know outgrows it.

    Parameters
    ----------
    array : ndarray of shape (n_features, n_columns)
        Float64; belongs to the new object from then on.

    References
    ----------
    Baker (1991), "Shallow binding makes functional arrays fast", ACM SIGPLAN Notices 26.
    """

    SAVED = (array("array", "d r", np.float64, at_least=0, finite=True),)

    def __init__(self, array: NDArray) -> None:
        vars(self)["array"] = array

    @property
    def array(self) -> NDArray:
        """The matrix; the newest version gives its own array, which later changes write to."""
        with self._lock:
            return self._settled()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of features and of columns."""
        array = self._newest()[0]
        return array.shape[0], array.shape[1]

    def read(self, features: Any) -> NDArray:
        """Return a copy of some rows of this version."""
        with self._lock:
            array, later = self._newest()
            # An earlier version needs its own array only where it is read as a whole.
            return (self._settled() if later else array)[features]

    def changed(self, features: NDArray, rows: NDArray) -> Self:
        """Return a version with other rows in these places; this one stays as it is."""
        with self._lock:
            # A change may begin from an earlier version, which has to be whole for that.
            array, older = self._settled(), vars(self)
            new = type(self)(array)
            before = older["before"]() if "before" in older else None
            size = rows.size + (older["held"] if before is not None else 0)
            # What the version before must know would be larger than a copy: it gets one.
            if before is not None and size > array.size:
                before._settled()
                size = rows.size
            # A weak reference: nobody is kept alive only to be told of changes.
            vars(new).update(before=weakref.ref(self), held=size, lock=self._lock)
            # What was there is known before it is written over: an interrupt between the two
            # leaves both versions right.
            older.update(later=(new, features, array[features]), array=None)
            array[features] = rows
        return new

    @property
    def _lock(self) -> Any:
        return vars(self).setdefault("lock", RLock())

    def _newest(self) -> tuple[NDArray, list[tuple[NDArray, NDArray]]]:
        """Return the array of all versions, and what later ones have written over, in order."""
        version, later = self, []
        while vars(version)["array"] is None:
            version, features, rows = vars(version)["later"]
            later.append((features, rows))
        return vars(version)["array"], later

    def _settled(self) -> NDArray:
        """Return the matrix of this version, in an array of its own if there is a later one."""
        array, later = self._newest()
        if later:
            array = array.copy()
            # Newest first: the oldest value, written last, is what this version held.
            for features, rows in reversed(later):
                array[features] = rows
            vars(self).update(array=array, later=None)
        return array

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: this version."""
        return {"array": self.array}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def __copy__(self) -> Self:
        """Return the version itself: it never changes."""
        return self
