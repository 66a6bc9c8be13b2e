"""Arithmetic on eight rows abreast: the last axis of an array fills a vector of the processor.

Numba would rather make vectors of the longer axes, and gather. So the loops that matter are written
for LLVM, and what they do stands beside them as plain functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LANES = 8  # of float64: a cache line
TILE = 4  # entries of a tile each way: its sums stay in the registers of the processor
CONTRACT = ("contract",)


def tile(lines, row, at, n, stride, least):  # type: ignore[no-untyped-def]
    """Finish a tile of Cholesky factors L, one in each lane, 1 / L[c, c] on their diagonals.

    Parameters
    ----------
    lines : ndarray of shape (n_lines, 8)
        Matrices side by side, row after row of ``stride`` lines.
    row, at : int
        First lines of the rows of the tile, and of the rows whose numbers are those of its columns.
    n : int
        The first column of the tile.
    stride : int
    least : float
        An entry whose squared pivot is at most this part of its diagonal depends on those before
        it: its inverse is written as 0, and so it is solved for as 0.
    """
    for i in range(TILE):
        for j in range(i + 1 if row == at else TILE):
            left, right = row + i * stride, at + j * stride
            whole = lines[left + n + j]
            rest = whole - (lines[left : left + n + j] * lines[right : right + n + j]).sum(axis=0)
            if row != at or j < i:
                lines[left + n + j] = rest * lines[right + n + j]
            else:
                lines[left + n + j] = 1 / np.sqrt(np.where(rest > least * whole, rest, np.inf))


def lack(lines, row, at, n):  # type: ignore[no-untyped-def]
    """Solve for entry n of the vectors from line ``row``, with the rows of factors from ``at``."""
    value = lines[row + n] - (lines[row : row + n] * lines[at : at + n]).sum(axis=0)
    lines[row + n] = value * lines[at + n]


def spread(lines, row, at, n):  # type: ignore[no-untyped-def]
    """Solve for entry n of the vectors from line ``row``, with the columns of factors."""
    lines[row + n] *= lines[at + n]
    lines[row : row + n] -= lines[row + n] * lines[at : at + n]


class _Lines:
    """The lines of an array of shape (n, 8) in LLVM's words."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        self.builder, self.index = builder, ir.IntType(64)
        self.vector = ir.VectorType(ir.DoubleType(), LANES)
        array = context.make_array(kind)(context, builder, value)
        self.start = builder.bitcast(array.data, self.vector.as_pointer())

    def number(self, value: int) -> Any:
        return self.index(value)

    def all_lanes(self, value: float) -> Any:
        return self.vector([value] * LANES)

    def at(self, *terms: Any) -> Any:
        """Return the place of the line whose number is the sum of the terms."""
        total = terms[0]
        for term in terms[1:]:
            total = self.builder.add(total, term)
        return self.builder.gep(self.start, [total])

    def load(self, *terms: Any) -> Any:
        return self.builder.load(self.at(*terms), align=8)

    def store(self, value: Any, *terms: Any) -> None:
        self.builder.store(value, self.at(*terms), align=8)

    def less(self, value: Any, left: Any, right: Any) -> Any:
        """Return ``value - left * right``."""
        product = self.builder.fmul(left, right, flags=CONTRACT)
        return self.builder.fsub(value, product, flags=CONTRACT)


def _tile(builder: Any, lines: _Lines, *arguments: Any) -> None:
    diagonal = builder.icmp_signed("==", *arguments[:2])
    with builder.if_else(diagonal) as (on, off):
        with on:
            _write_tile(builder, lines, arguments, diagonal=True)
        with off:
            _write_tile(builder, lines, arguments, diagonal=False)


def _write_tile(builder: Any, lines: _Lines, arguments: Any, *, diagonal: bool) -> None:
    """Write the code for a tile; all its numbers stay in registers."""
    row, at, n, stride, least = arguments
    steps = [builder.mul(lines.number(i), stride) for i in range(TILE)]
    lefts = [builder.add(row, step) for step in steps]
    rights = lefts if diagonal else [builder.add(at, step) for step in steps]
    columns = [builder.add(n, lines.number(j)) for j in range(TILE)]
    places = [(i, j) for i in range(TILE) for j in range(i + 1 if diagonal else TILE)]
    whole = {(i, j): lines.load(lefts[i], columns[j]) for i, j in places}
    rest = {place: cgutils.alloca_once_value(builder, value) for place, value in whole.items()}
    with cgutils.for_range(builder, n) as loop:
        left = [lines.load(start, loop.index) for start in lefts]
        right = left if diagonal else [lines.load(start, loop.index) for start in rights]
        for i, j in places:
            value = lines.less(builder.load(rest[i, j]), left[i], right[j])
            builder.store(value, rest[i, j])
    found: dict[tuple[int, int], Any] = {}
    for i, j in places:
        value = builder.load(rest[i, j])
        for k in range(j):
            other = found[j, k] if diagonal else lines.load(rights[j], columns[k])
            value = lines.less(value, found[i, k], other)
        if diagonal and i == j:
            found[i, j] = _inverse_root(builder, lines, value, whole[i, i], least)
        else:
            pivot = found[j, j] if diagonal else lines.load(rights[j], columns[j])
            found[i, j] = builder.fmul(value, pivot)
        lines.store(found[i, j], lefts[i], columns[j])


def _inverse_root(builder: Any, lines: _Lines, value: Any, whole: Any, least: Any) -> Any:
    """Return 1 / sqrt(value), 0 where the value is at most its least part of the whole."""
    kind = ir.FunctionType(lines.vector, [lines.vector])
    root = cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f64")
    part = lines.all_lanes(0.0)
    for lane in range(LANES):
        part = builder.insert_element(part, least, ir.IntType(32)(lane))
    sound = builder.fcmp_ordered(">", value, builder.fmul(part, whole))
    safe = builder.select(sound, value, lines.all_lanes(float("inf")))
    return builder.fdiv(lines.all_lanes(1.0), builder.call(root, [safe]))


def _lack(builder: Any, lines: _Lines, row: Any, at: Any, n: Any) -> None:
    total = cgutils.alloca_once_value(builder, lines.load(row, n))
    with cgutils.for_range(builder, n) as loop:
        left, right = lines.load(row, loop.index), lines.load(at, loop.index)
        builder.store(lines.less(builder.load(total), left, right), total)
    lines.store(builder.fmul(builder.load(total), lines.load(at, n)), row, n)


def _spread(builder: Any, lines: _Lines, row: Any, at: Any, n: Any) -> None:
    factor = builder.fmul(lines.load(row, n), lines.load(at, n))
    lines.store(factor, row, n)
    with cgutils.for_range(builder, n) as loop:
        value = lines.less(lines.load(row, loop.index), factor, lines.load(at, loop.index))
        lines.store(value, row, loop.index)


def _emitted(emit: Callable[..., None], lines: Any, arguments: Any) -> Any:
    """Return numba's signature of a function of an array and numbers, and what writes its code."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        emit(builder, _Lines(context, builder, signature.args[0], values[0]), *values[1:])
        return context.get_dummy_value()

    return types.void(lines, *arguments), code


INDEX = types.intp


@intrinsic
def _compiled_tile(_context, lines, row, at, n, stride, least):  # type: ignore[no-untyped-def]
    arguments = (INDEX, INDEX, INDEX, INDEX, types.float64)
    return _emitted(_tile, lines, arguments)


@intrinsic
def _compiled_lack(_context, lines, row, at, n):  # type: ignore[no-untyped-def]
    return _emitted(_lack, lines, (INDEX, INDEX, INDEX))


@intrinsic
def _compiled_spread(_context, lines, row, at, n):  # type: ignore[no-untyped-def]
    return _emitted(_spread, lines, (INDEX, INDEX, INDEX))


@overload(tile)
def _choose_tile(lines, row, at, n, stride, least):  # type: ignore[no-untyped-def]
    return lambda lines, row, at, n, stride, least: _compiled_tile(lines, row, at, n, stride, least)


@overload(lack)
def _choose_lack(lines, row, at, n):  # type: ignore[no-untyped-def]
    return lambda lines, row, at, n: _compiled_lack(lines, row, at, n)


@overload(spread)
def _choose_spread(lines, row, at, n):  # type: ignore[no-untyped-def]
    return lambda lines, row, at, n: _compiled_spread(lines, row, at, n)
