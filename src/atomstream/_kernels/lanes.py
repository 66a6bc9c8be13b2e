"""Arithmetic on eight rows abreast: the last axis of an array fills a vector of the processor.

Numba would rather make vectors of the longer axes, and gather; so the three loops that matter are
written for LLVM. The functions below are what they do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atomstream._kernels.compile import extending, numba

LANES = 8  # of float64: a cache line
FLAGS = ("contract",)


def lack(lines, row, at, n):  # type: ignore[no-untyped-def]
    """Subtract from line ``row + n`` the sum of products of the n lines from ``row`` and ``at``."""
    lines[row + n] -= (lines[row : row + n] * lines[at : at + n]).sum(axis=0)


def scale(lines, target, by, _n):  # type: ignore[no-untyped-def]
    """Multiply one line by another."""
    lines[target] *= lines[by]


def spread(lines, target, at, n):  # type: ignore[no-untyped-def]
    """Subtract from the n lines from ``target`` those from ``at`` times line ``target + n``."""
    lines[target : target + n] -= lines[target + n] * lines[at : at + n]


class _Lines:
    """The lines of an array of shape (n, 8) in LLVM's words."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        from llvmlite import ir

        array = context.make_array(kind)(context, builder, value)
        self.vector = ir.VectorType(ir.DoubleType(), LANES)
        self.builder = builder
        self.start = builder.bitcast(array.data, self.vector.as_pointer())

    def _place(self, index: Any) -> Any:
        return self.builder.gep(self.start, [index])

    def load(self, index: Any) -> Any:
        return self.builder.load(self._place(index), align=8, typ=self.vector)

    def store(self, value: Any, index: Any) -> None:
        self.builder.store(value, self._place(index), align=8)


def _lack(builder: Any, lines: _Lines, row: Any, at: Any, n: Any) -> None:
    from llvmlite import ir
    from numba.core import cgutils

    total = cgutils.alloca_once_value(builder, ir.Constant(lines.vector, None))
    with cgutils.for_range(builder, n) as loop:
        left = lines.load(builder.add(row, loop.index))
        right = lines.load(builder.add(at, loop.index))
        product = builder.fmul(left, right, flags=FLAGS)
        builder.store(builder.fadd(builder.load(total), product, flags=FLAGS), total)
    end = builder.add(row, n)
    lines.store(builder.fsub(lines.load(end), builder.load(total)), end)


def _scale(builder: Any, lines: _Lines, target: Any, by: Any, _n: Any) -> None:
    lines.store(builder.fmul(lines.load(target), lines.load(by)), target)


def _spread(builder: Any, lines: _Lines, target: Any, at: Any, n: Any) -> None:
    from numba.core import cgutils

    factor = lines.load(builder.add(target, n))
    with cgutils.for_range(builder, n) as loop:
        place = builder.add(target, loop.index)
        product = builder.fmul(factor, lines.load(builder.add(at, loop.index)), flags=FLAGS)
        lines.store(builder.fsub(lines.load(place), product, flags=FLAGS), place)


def _written(plain: Callable[..., None], emit: Callable[..., None]) -> None:
    """Let compiled code run what ``emit`` writes in place of a plain function."""

    def typed(_context: Any, lines: Any, first: Any, second: Any, n: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = _Lines(context, builder, signature.args[0], arguments[0])
            emit(builder, array, *arguments[1:])
            return context.get_dummy_value()

        index = numba.types.intp
        return numba.types.void(lines, index, index, index), code

    intrinsic = extending.intrinsic(typed)
    extending.overload(plain, inline="never")(
        lambda lines, first, second, n: (lambda lines, first, second, n: intrinsic(lines, first, second, n))
    )


_written(lack, _lack)
_written(scale, _scale)
_written(spread, _spread)
