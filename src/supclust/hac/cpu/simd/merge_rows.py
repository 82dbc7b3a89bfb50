"""Merges of two rows in explicit vectors, the weights of single points made on the way (Numba).

As loops they took up to twice the time: the weights of points went through memory, the compiler
used half of the processor's vectors, and every call counted references to its arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from supclust.hac.cpu.simd.argmin import INT, LONG, VECTOR_BYTES, intrinsic, spread
from supclust.hac.cpu.simd.exp import Exponential

_PLACE = types.int64


class _Merge(ABC):
    """Builds the merge of two rows, a vector of columns at a time; subclasses say how.

    Args:
        builder: Of the code.
        kind: Numba's float type of the rows.
        outputs: Pointers to the rows that are written; a row that is read may be one of them.
    """

    def __init__(self, builder: Any, kind: Any, outputs: list[Any]) -> None:
        self.builder, self.kind, self.outputs = builder, kind, outputs
        self.itemsize = kind.bitwidth // 8

    @abstractmethod
    def merged(self, lanes: int, at: Any) -> list[Any]:
        """What goes to the outputs, for the columns from ``at`` on; no lanes: for one."""

    def all(self, length: Any) -> None:
        """Merge the columns below ``length``."""
        builder, lanes = self.builder, VECTOR_BYTES // self.itemsize
        enough = builder.icmp_signed(">=", length, LONG(lanes))
        with builder.if_else(enough) as (long, short):
            with long:
                # The last vector overlaps the one before: it is made while nothing is overwritten.
                last = builder.sub(length, LONG(lanes))
                end = self.merged(lanes, last)
                with cgutils.for_range_slice(builder, LONG(0), last, LONG(lanes)) as (at, _):
                    self.write(self.merged(lanes, at), at)
                self.write(end, last)
            with short, cgutils.for_range_slice(builder, LONG(0), length, LONG(1)) as (at, _):
                self.write(self.merged(0, at), at)

    def write(self, merged: list[Any], at: Any) -> None:
        for value, row in zip(merged, self.outputs, strict=True):
            self.builder.store(value, self._place(row, at, value.type), align=self.itemsize)

    def read(self, row: Any, at: Any, kind: Any) -> Any:
        return self.builder.load(self._place(row, at, kind), align=4)

    def _place(self, row: Any, at: Any, kind: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(row, [at]), kind.as_pointer())

    def mean(self, a: Any, b: Any, shares: list[Any], made: Exponential) -> Any:
        """The mean of a and b by their ``shares`` (`merge_rules.merge_pair`), and between them."""
        builder = self.builder
        mean = made.add(made.times(a, shares[0]), made.times(b, shares[1]))
        lower = builder.fcmp_ordered("<", a, b)
        least, most = builder.select(lower, a, b), builder.select(lower, b, a)
        mean = builder.select(builder.fcmp_ordered("<", mean, least), least, mean)
        return builder.select(builder.fcmp_ordered(">", mean, most), most, mean)


class _Plain(_Merge):
    """Of two rows the larger numbers, or the means if the second's share is given."""

    def __init__(self, builder: Any, kind: Any, rows: list[Any], share: Any = None) -> None:
        super().__init__(builder, kind, rows[:1])
        self.rows, self.share = rows, share

    def merged(self, lanes: int, at: Any) -> list[Any]:
        builder, made = self.builder, Exponential(self.builder, self.kind, lanes)
        a, b = (self.read(row, at, made.number) for row in self.rows)
        if self.share is None:
            return [builder.select(builder.fcmp_ordered(">", a, b), a, b)]
        share = spread(builder, self.share, made.number) if lanes else self.share
        rest = builder.fsub(made.constant(1.0, made.number), share)
        return [self.mean(a, b, [rest, share], made)]


class _Weighted(_Merge):
    """The means of two rows by their weights, and the sums of those.

    Args:
        builder: Of the code.
        kind: Numba's float type of the rows.
        rows: Pointers to the linkages of a and b.
        weights: Pointers to their weights. Of a point they are known for columns of ``size`` above
            1; the others are exp(alpha (f - centre)).
        points: Which of them is a single point.
        outputs: Pointers to where linkages and weights go.
        scale: Pointer to the sizes (int32), alpha, centre; for points.
    """

    def __init__(
        self, builder: Any, kind: Any, rows: list[Any], weights: list[Any],
        points: tuple[bool, bool], outputs: list[Any], scale: tuple[Any, ...],
    ) -> None:  # fmt: skip
        super().__init__(builder, kind, outputs)
        self.rows, self.weights, self.points, self.scale = rows, weights, points, scale

    def merged(self, lanes: int, at: Any) -> list[Any]:
        builder, made = self.builder, Exponential(self.builder, self.kind, lanes)
        numbers = [self.read(row, at, made.number) for row in self.rows]
        weights = [self.read(row, at, made.number) for row in self.weights]
        if any(self.points):
            size, alpha, centre = self.scale
            whole = ir.VectorType(INT, lanes) if lanes else INT
            one = ir.Constant(whole, [1] * lanes if lanes else 1)
            known = builder.icmp_signed(">", self.read(size, at, whole), one)
            if lanes:
                alpha, centre = (spread(builder, s, made.number) for s in (alpha, centre))
            for i in range(2):
                if self.points[i]:
                    made_now = made.of(
                        builder.fmul(builder.fsub(numbers[i], centre), alpha), rounded=True
                    )
                    weights[i] = builder.select(known, weights[i], made_now)
        total = builder.fadd(*weights)
        part = builder.fdiv(made.constant(1.0, made.number), total)
        shares = [builder.fmul(weight, part) for weight in weights]
        return [self.mean(numbers[0], numbers[1], shares, made), total]


def _rows_at(
    context: Any, builder: Any, signature: Any, args: Any, array: int, *at: int
) -> list[Any]:
    """Pointers into an argument, an array, at places that are arguments, too."""
    data = context.make_array(signature.args[array])(context, builder, args[array]).data
    return [builder.gep(data, [args[place]]) for place in at]


def _build_plain(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    rows = _rows_at(context, builder, signature, args, 0, 1, 2)
    _Plain(builder, signature.args[0].dtype, rows, *args[4:]).all(args[3])
    return context.get_dummy_value()


def _build_weighted(
    points: tuple[bool, bool], context: Any, builder: Any, signature: Any, args: Any
) -> Any:
    at = partial(_rows_at, context, builder, signature, args)
    into, a, b = at(0, 1, 2, 3)
    (ours,), (theirs,), length = at(4, 5), at(6, 7), args[8]
    weights = [builder.gep(theirs, [length]) if points[0] else ours, theirs]
    scale = args[9:]
    if any(points):
        size = context.make_array(signature.args[9])(context, builder, args[9]).data
        scale = (size, *args[10:])
    kind = signature.args[0].dtype
    _Weighted(builder, kind, [a, b], weights, points, [into, ours], scale).all(length)
    return context.get_dummy_value()


@intrinsic
def merge_largest(_: Any, psi: Any, into: Any, other: Any, length: Any) -> Any:
    """Let the row of ``psi`` at ``into`` hold the larger numbers of it and the row at ``other``."""
    return types.void(psi, _PLACE, _PLACE, _PLACE), _build_plain


@intrinsic
def merge_means(_: Any, psi: Any, into: Any, other: Any, length: Any, share: Any) -> Any:
    """As `merge_largest`, the means, to which the other row contributes ``share``."""
    return types.void(psi, _PLACE, _PLACE, _PLACE, psi.dtype), _build_plain


def _weighted(points: tuple[bool, bool], psi: Any, weight: Any, others: Any, *scale: Any) -> Any:
    arguments = (psi, _PLACE, _PLACE, _PLACE, weight, _PLACE, others, _PLACE, _PLACE, *scale)
    return types.void(*arguments), partial(_build_weighted, points)


@intrinsic
def merge_clusters(
    _: Any, psi: Any, into: Any, a: Any, b: Any, weight: Any, ours: Any, others: Any, theirs: Any,
    length: Any,
) -> Any:  # fmt: skip
    """Merge the rows of ``psi`` at a and b to the row at ``into``, which is one of them.

    The weights of a, at ``ours`` of ``weight``, become the sums with those of b, at ``theirs`` of
    ``others``. All are flat and contiguous.
    """
    return _weighted((False, False), psi, weight, others)


@intrinsic
def merge_point(
    _: Any, psi: Any, into: Any, a: Any, b: Any, weight: Any, ours: Any, others: Any, theirs: Any,
    length: Any, size: Any, alpha: Any, centre: Any,
) -> Any:  # fmt: skip
    """As `merge_clusters` where b is a single point.

    Its weights are known for columns of ``size`` (int32) above 1; the others are
    exp(alpha (f - centre)).
    """
    return _weighted((False, True), psi, weight, others, size, psi.dtype, psi.dtype)


@intrinsic
def merge_points(
    _: Any, psi: Any, into: Any, a: Any, b: Any, weight: Any, ours: Any, others: Any, theirs: Any,
    length: Any, size: Any, alpha: Any, centre: Any,
) -> Any:  # fmt: skip
    """As `merge_point` where a is one, too: its known weights follow b's in ``others``."""
    return _weighted((True, True), psi, weight, others, size, psi.dtype, psi.dtype)
