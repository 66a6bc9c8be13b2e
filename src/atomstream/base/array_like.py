"""What NumPy makes an array of, under the name that help shows."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
else:

    class ArrayLike:
        """What `numpy.asarray` takes; type checkers see `numpy.typing.ArrayLike`.

        That is a union of up to 1,691 characters, which signatures in ``help`` would spell out.
        """

    # The names of built-in types are shown without a module.
    ArrayLike.__module__ = "builtins"

__all__ = ["ArrayLike"]
