"""Uniform numbers from a generator of NumPy, known to kernels by two addresses.

Numba takes generators themselves too, by running Python code at the beginning of the call. A signal
whose handler raises there, such as Ctrl-C, ends the process.
"""

from __future__ import annotations

import ctypes

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from atomstream._kernels.compile import inlined


def source_of(rng: np.random.Generator) -> tuple[int, int]:
    """Return a generator as kernels take it; it must live as long as the call.

    Parameters
    ----------
    rng : numpy.random.Generator
        Of any kind; kernels move it on.

    Returns
    -------
    function : int
        Address of the C function ``double next_double(void *state)``.
    state : int
        Address of its argument.
    """
    interface = rng.bit_generator.ctypes
    function = ctypes.cast(interface.next_double, ctypes.c_void_p).value
    return int(function or 0), int(interface.state_address)


@inlined
def uniform(source):  # type: ignore[no-untyped-def]
    """Return a number in [0, 1), as ``rng.random()`` does."""
    return _called(source[0], source[1])


@intrinsic
def _called(_context, function, state):  # type: ignore[no-untyped-def]
    """Return what the C function at an address returns for the pointer to another address."""

    def build(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        """Emit the call of the address with the pointer."""
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.DoubleType(), [pointer])
        function, state = arguments
        argument = builder.inttoptr(state, pointer)
        return builder.call(builder.inttoptr(function, kind.as_pointer()), [argument])

    return types.float64(types.int64, types.int64), build
