"""Searches for the extreme of a row with explicit vectors.

LLVM does not vectorise a search for a minimum of floats, which carries a comparison from element to
element. Written as vectors of its intermediate language it takes a tenth of the time. Nothing here
depends on the processor: LLVM splits the vectors into what the machine has.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from supclust.kernels import vector_intrinsic

_VECTOR_BYTES = 64
_CHAINS = 4  # independent vectors of running minima, which hide the latency of a comparison
_INT = ir.IntType(32)
_LONG = ir.IntType(64)


class _Search:
    """Builds the search of one row: every lane keeps its smallest value and its column."""

    def __init__(self, builder: Any, order: str, data: Any, barrier: Any, kind: Any) -> None:
        self.builder, self.order, self.data, self.barrier = builder, order, data, barrier
        self.float = ir.FloatType() if kind == types.float32 else ir.DoubleType()
        self.itemsize = 4 if kind == types.float32 else 8
        self.lanes = _VECTOR_BYTES // self.itemsize
        self.floats = ir.VectorType(self.float, self.lanes)
        self.ints = ir.VectorType(_INT, self.lanes)
        self.least = [cgutils.alloca_once(builder, self.floats) for _ in range(_CHAINS)]
        self.column = [cgutils.alloca_once(builder, self.ints) for _ in range(_CHAINS)]
        self.result = cgutils.alloca_once(builder, _LONG)

    def _read(self, at: Any, kind: Any) -> Any:
        """Values from column ``at`` on, a vector or one number, plus the barrier."""
        builder, values = self.builder, []
        for data in (self.data, self.barrier):
            if data is not None:
                pointer = builder.bitcast(builder.gep(data, [at]), kind.as_pointer())
                values.append(builder.load(pointer, align=self.itemsize))
        return builder.fadd(*values) if len(values) == 2 else values[0]

    def _columns(self, at: Any) -> Any:
        """The first column of a vector in every lane."""
        builder, empty = self.builder, ir.Constant(self.ints, ir.Undefined)
        first = builder.insert_element(empty, builder.trunc(at, _INT), _INT(0))
        return builder.shuffle_vector(first, empty, ir.Constant(self.ints, [0] * self.lanes))

    def _start(self, chain: int, at: Any) -> None:
        self.builder.store(self._read(at, self.floats), self.least[chain])
        self.builder.store(self._columns(at), self.column[chain])

    def _step(self, chain: int, at: Any) -> None:
        """Compare the next vector with a chain's; at a tie the earlier column stays."""
        builder = self.builder
        value, least = self._read(at, self.floats), builder.load(self.least[chain])
        lower = builder.fcmp_ordered(self.order, value, least)
        builder.store(builder.select(lower, value, least), self.least[chain])
        column = builder.select(lower, self._columns(at), builder.load(self.column[chain]))
        builder.store(column, self.column[chain])

    def _reduced(self, vector: Any, better: Any) -> Any:
        """A vector with the best of its lanes in every lane."""
        width = self.lanes // 2
        while width:
            rotation = [(i + width) % self.lanes for i in range(self.lanes)]
            other = self.builder.shuffle_vector(vector, vector, ir.Constant(self.ints, rotation))
            vector = self.builder.select(better(other, vector), other, vector)
            width //= 2
        return vector

    def _finish(self, count: int) -> None:
        """Store the lowest column of the smallest value of the first ``count`` chains."""
        builder = self.builder
        ordered = partial(builder.fcmp_ordered, self.order)
        least = builder.load(self.least[0])
        for chain in range(1, count):
            other = builder.load(self.least[chain])
            least = builder.select(ordered(other, least), other, least)
        least = self._reduced(least, ordered)
        none = ir.Constant(self.ints, [2**31 - 1] * self.lanes)
        lane = ir.Constant(self.ints, list(range(self.lanes)))
        column = none
        for chain in range(count):
            # unordered: a column is found even if all values are NaN
            equal = builder.fcmp_unordered("==", builder.load(self.least[chain]), least)
            at = builder.select(equal, builder.add(builder.load(self.column[chain]), lane), none)
            column = builder.select(builder.icmp_signed("<", at, column), at, column)
        column = self._reduced(column, partial(builder.icmp_signed, "<"))
        column = builder.extract_element(column, _INT(0))
        builder.store(builder.sext(column, _LONG), self.result)

    def _chains(self, length: Any, count: int) -> None:
        """Search in ``count`` chains a row of at least as many vectors.

        The last vectors overlap columns already seen, which does not change the result.
        """
        builder, stride = self.builder, _LONG(self.lanes * count)
        offsets = [_LONG(chain * self.lanes) for chain in range(count)]
        for chain, offset in enumerate(offsets):
            self._start(chain, offset)
        whole = builder.mul(builder.sdiv(length, stride), stride)
        with cgutils.for_range_slice(builder, stride, whole, stride) as (at, _):
            for chain, offset in enumerate(offsets):
                self._step(chain, builder.add(at, offset))
        last = builder.sub(length, stride)
        for chain, offset in enumerate(offsets):
            self._step(chain, builder.add(last, offset))
        self._finish(count)

    def _one_by_one(self, length: Any) -> None:
        builder = self.builder
        builder.store(_LONG(0), self.result)
        with cgutils.for_range_slice(builder, _LONG(1), length, _LONG(1)) as (at, _):
            best = builder.load(self.result)
            values = self._read(at, self.float), self._read(best, self.float)
            lower = builder.fcmp_ordered(self.order, *values)
            builder.store(builder.select(lower, at, best), self.result)

    def build(self, length: Any) -> Any:
        """Build the search and return the column."""
        builder = self.builder
        long = builder.icmp_signed(">=", length, _LONG(self.lanes * _CHAINS))
        with builder.if_else(long) as (many, few):
            with many:
                self._chains(length, _CHAINS)
            with few:
                some = builder.icmp_signed(">=", length, _LONG(self.lanes))
                with builder.if_else(some) as (one, short):
                    with one:
                        self._chains(length, 1)
                    with short:
                        self._one_by_one(length)
        return builder.load(self.result)


def _build(order: str, context: Any, builder: Any, signature: Any, args: Any) -> Any:
    row = signature.args[0]
    data = context.make_array(row)(context, builder, args[0]).data
    barrier = None
    if len(args) == 4:
        barrier = context.make_array(signature.args[3])(context, builder, args[3]).data
    search = _Search(builder, order, builder.gep(data, [args[1]]), barrier, row.dtype)
    return search.build(args[2])


def _plain(search: Any) -> Any:
    """The plain-Python twin of a search."""

    def searched(values: Any, start: int, length: int, barrier: Any = None) -> int:
        part = values[start:][:length]
        return int(search(part if barrier is None else part + barrier[:length]))

    return searched


@vector_intrinsic(_plain(np.argmin))
def argmin(_: Any, values: Any, start: Any, length: Any) -> Any:
    """Return the lowest place of the smallest of ``values[start : start + length]``.

    Counted from ``start``. ``length`` is at least 1; the values are contiguous, without NaN.
    """
    return types.int64(values, types.int64, types.int64), partial(_build, "<")


@vector_intrinsic(_plain(np.argmax))
def argmax(_: Any, values: Any, start: Any, length: Any) -> Any:
    """As `argmin`, of the largest."""
    return types.int64(values, types.int64, types.int64), partial(_build, ">")


@vector_intrinsic(_plain(np.argmin))
def argmin_beyond(_: Any, values: Any, start: Any, length: Any, barrier: Any) -> Any:
    """As `argmin`, of the sums of the values and ``barrier[:length]``."""
    return types.int64(values, types.int64, types.int64, barrier), partial(_build, "<")
