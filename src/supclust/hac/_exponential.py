"""exp without a branch, a table or a call: of one number, and of a row in explicit vectors (Numba).

A loop over it takes a quarter of the time of the library's.
"""

from __future__ import annotations

from math import factorial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from supclust.hac._vector import INT, LONG, VECTOR_BYTES, intrinsic, spread

LARGEST = 700.0  # of |x| in float64 (80 in float32); beyond it the result leaves the normal range

_PER_LOG_2 = 1.4426950408889634
_FUSED = ("contract",)  # a product and a sum may be rounded once


class _Exponential:
    """Builds exp(x) = 2^k exp(r), k the integer nearest to x / log 2, for one float type.

    |r| <= log(2) / 2 = 0.35, where the Taylor polynomial is off by 0.35^14 / 14! = 4e-18 (degree
    13, float64) or 0.35^8 / 8! = 6e-9 (degree 7, float32). It is exactly 1 at 0.

    Args:
        builder: of the code.
        kind: Numba's float32 or float64.
        lanes: of a vector; 0: a number.
    """

    def __init__(self, builder: Any, kind: Any, lanes: int) -> None:
        double = kind == types.float64
        self.builder, self.lanes, self.double = builder, lanes, double
        number, whole = (ir.DoubleType(), LONG) if double else (ir.FloatType(), INT)
        self.number = ir.VectorType(number, lanes) if lanes else number
        self.whole = ir.VectorType(whole, lanes) if lanes else whole
        # log 2 in two parts, the first with so few bits that its products with k are exact.
        self.log_2 = (
            (0.693147180369123816490, 1.90821492927058770002e-10)
            if double
            else (0.693359375, -2.12194440e-4)
        )
        # Adding it rounds a small number to an integer and leaves that in the lowest bits.
        self.rounder = 1.5 * 2.0**52 if double else 1.5 * 2.0**23
        self.fraction_bits, self.bias = (52, 1023) if double else (23, 127)

    def constant(self, value: float | int, kind: Any) -> Any:
        return ir.Constant(kind, [value] * self.lanes if self.lanes else value)

    def of(self, x: Any) -> Any:
        """The code for exp(x)."""
        builder, rounder = self.builder, self.constant(self.rounder, self.number)
        shifted = self.add(self.times(x, self.constant(_PER_LOG_2, self.number)), rounder)
        k = builder.fsub(shifted, rounder)
        r = x
        for part in self.log_2:
            r = builder.fsub(r, self.times(k, self.constant(part, self.number)), flags=_FUSED)
        return builder.fmul(self.polynomial(r), self.power(shifted))

    def power(self, shifted: Any) -> Any:
        """2^k: k, in the lowest bits of ``shifted``, made an exponent; the shift drops the rest."""
        builder = self.builder
        bits = builder.bitcast(shifted, self.whole)
        bits = builder.shl(bits, self.constant(self.fraction_bits, self.whole))
        one = self.constant(self.bias << self.fraction_bits, self.whole)
        return builder.bitcast(builder.add(bits, one), self.number)

    def polynomial(self, r: Any) -> Any:
        if not self.double:
            sum_ = self.coefficient(7)
            for k in range(6, -1, -1):
                sum_ = self.add(self.times(sum_, r), self.coefficient(k))
            return sum_
        # In pairs, so that the parts do not wait for each other.
        r2 = self.times(r, r)
        r4 = self.times(r2, r2)
        pair = [self.add(self.times(self.coefficient(k + 1), r), self.coefficient(k))
                for k in range(2, 14, 2)]  # fmt: skip
        low = self.add(self.times(r2, self.add(self.times(r2, pair[2]), pair[1])), pair[0])
        high = self.add(self.times(r4, pair[5]), self.add(self.times(r2, pair[4]), pair[3]))
        rest = self.add(self.times(self.times(r2, r4), high), low)
        one = self.constant(1.0, self.number)
        return self.add(self.times(r2, rest), self.add(one, r))

    def coefficient(self, k: int) -> Any:
        return self.constant(1.0 / factorial(k), self.number)

    def times(self, a: Any, b: Any) -> Any:
        return self.builder.fmul(a, b, flags=_FUSED)

    def add(self, a: Any, b: Any) -> Any:
        return self.builder.fadd(a, b, flags=_FUSED)


def _build_one(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _Exponential(builder, signature.args[0], 0).of(args[0])


@intrinsic
def exponential(_: Any, x: Any) -> Any:
    """exp(x) for |x| <= `LARGEST`, to about two units in the last place."""
    return x(x), _build_one


def _build_row(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = signature.args[0].dtype
    values, weights = (
        builder.gep(context.make_array(signature.args[i])(context, builder, args[i]).data,
                    [args[i + 1]])
        for i in (0, 2)
    )  # fmt: skip
    length, alpha, centre = args[4:]
    itemsize = kind.bitwidth // 8
    lanes = VECTOR_BYTES // itemsize

    def write(wide: int, at: Any) -> None:
        made = _Exponential(builder, kind, wide)
        pointer = made.number.as_pointer()
        source, target = (builder.bitcast(builder.gep(data, [at]), pointer)
                          for data in (values, weights))  # fmt: skip
        scalars = (centre, alpha)
        middle, factor = (spread(builder, s, made.number) if wide else s for s in scalars)
        x = builder.fmul(builder.fsub(builder.load(source, align=itemsize), middle), factor)
        builder.store(made.of(x), target, align=itemsize)

    enough = builder.icmp_signed(">=", length, LONG(lanes))
    with builder.if_else(enough) as (long, short):
        with long:
            last = builder.sub(length, LONG(lanes))
            with cgutils.for_range_slice(builder, LONG(0), last, LONG(lanes)) as (at, _):
                write(lanes, at)
            write(lanes, last)  # overlaps what is there: the same numbers again
        with short, cgutils.for_range_slice(builder, LONG(0), length, LONG(1)) as (at, _):
            write(0, at)
    return context.get_dummy_value()


@intrinsic
def exponentials(
    _: Any, values: Any, start: Any, weights: Any, begin: Any, length: Any, alpha: Any, centre: Any
) -> Any:
    """weights[begin + i] = exp(alpha (values[start + i] - centre)) for i below ``length``.

    Both arrays are contiguous, of one type, and do not overlap.
    """
    kind = values.dtype
    place = types.int64
    return types.void(values, place, weights, place, place, kind, kind), _build_row
