"""One step of Prim's algorithm in explicit vectors: smaller distances, and the least of them.

In one pass, with one array beside the row: what is nearer is mostly known, and seldom written.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from supclust.hac.cpu.simd.argmin import LONG, Search, intrinsic, prefetch, sweep

_GONE = float("inf")
_AHEAD = 1024  # bytes; a row that begins anywhere in memory comes too late otherwise


class _Reach(Search):
    """Reads a row, and writes on the way what of it is nearer than what was known."""

    def __init__(self, builder: Any, row: Any, nearest: Any, kind: Any) -> None:
        super().__init__(builder, "<", row, None, kind)
        self.nearest = nearest

    def read(self, at: Any) -> Any:
        """The distances of the columns from ``at`` on, the smaller ones of known and new."""
        builder = self.builder
        ahead = builder.add(at, LONG(_AHEAD // self.itemsize))
        prefetch(builder, builder.gep(self.data, [ahead]), soon=True)
        new, known = self._load(self.data, at), self._load(self.nearest, at)
        open_ = builder.fcmp_ordered("<", known, ir.Constant(self.floats, [_GONE] * self.lanes))
        lower = builder.and_(open_, builder.fcmp_ordered("<", new, known))
        nearer = builder.select(lower, new, known)
        bits = ir.IntType(self.lanes)
        some = builder.icmp_unsigned("!=", builder.bitcast(lower, bits), bits(0))
        with builder.if_then(some):
            place = builder.gep(self.nearest, [at])
            place = builder.bitcast(place, self.floats.as_pointer())
            builder.store(nearer, place, align=self.itemsize)
        return nearer

    def one_by_one(self, length: Any) -> None:
        """Of a row shorter than a vector."""
        builder = self.builder
        best = cgutils.alloca_once(builder, LONG)
        builder.store(LONG(0), best)
        with cgutils.for_range_slice(builder, LONG(0), length, LONG(1)) as (at, _):
            place = builder.gep(self.nearest, [at])
            new, known = builder.load(builder.gep(self.data, [at])), builder.load(place)
            open_ = builder.fcmp_ordered("<", known, ir.Constant(self.float, _GONE))
            lower = builder.and_(open_, builder.fcmp_ordered("<", new, known))
            nearer = builder.select(lower, new, known)
            builder.store(nearer, place)
            least = builder.load(builder.gep(self.nearest, [builder.load(best)]))
            lower = builder.fcmp_ordered("<", nearer, least)
            builder.store(builder.select(lower, at, builder.load(best)), best)
        builder.store(builder.load(best), self.found)


def _build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    def pointer(array: int, at: Any) -> Any:
        data = context.make_array(signature.args[array])(context, builder, args[array]).data
        return builder.gep(data, [at])

    length = args[4]
    step = _Reach(builder, pointer(0, args[1]), pointer(2, args[3]), signature.args[0].dtype)
    sweep(builder, length, step.lanes, step, lambda: step.one_by_one(length))
    return builder.load(step.found)


@intrinsic
def reach(_: Any, values: Any, begin: Any, nearest: Any, start: Any, length: Any) -> Any:
    """Let ``nearest`` hold the smaller of its numbers and those of a row.

    Args:
        values: Contiguous.
        begin: Where the row begins in them.
        nearest: Updated, but for infinite ones: those columns do not count any more.
        start: First column of ``nearest``.
        length: How many columns, at least one.

    Returns:
        The lowest place of the smallest number, counted from ``start``.
    """
    long = types.int64
    return long(values, long, nearest, long, long), _build
