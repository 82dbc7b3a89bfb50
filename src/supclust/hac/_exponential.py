"""exp that the compiler can vectorise: a loop over it takes a quarter of the time (Numba)."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

LARGEST = 700.0  # of |x|; beyond it the result would leave the normal range

_PER_LOG_2 = 1.4426950408889634
# log 2 in two parts, the first with so few bits that its products with small integers are exact.
_LOG_2_HIGH, _LOG_2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
# Adding it rounds a small number to an integer and leaves that in the lowest bits.
_ROUNDER = 1.5 * 2.0**52
_ROUNDER_BITS = int(np.float64(_ROUNDER).view(np.int64))
_PER_LOG_2_32, _ROUNDER_32 = np.float32(_PER_LOG_2), np.float32(1.5 * 2.0**23)
_LOG_2_HIGH_32, _LOG_2_LOW_32 = np.float32(0.693359375), np.float32(-2.12194440e-4)
_TAYLOR_32 = tuple(np.float32(1.0 / factorial(k)) for k in range(8))
_TAYLOR = tuple(1.0 / factorial(k) for k in range(14))


@intrinsic
def _bits(_: Any, x: Any) -> Any:
    """The 64 bits of a float64 as an integer."""
    return types.int64(types.float64), lambda c, builder, s, arguments: builder.bitcast(
        arguments[0], ir.IntType(64)
    )


@intrinsic
def _from_bits(_: Any, bits: Any) -> Any:
    """The float64 made of 64 bits."""
    return types.float64(types.int64), lambda c, builder, s, arguments: builder.bitcast(
        arguments[0], ir.DoubleType()
    )


@intrinsic
def _bits_32(_: Any, x: Any) -> Any:
    """The 32 bits of a float32 as an integer."""
    return types.int32(types.float32), lambda c, builder, s, arguments: builder.bitcast(
        arguments[0], ir.IntType(32)
    )


@intrinsic
def _from_bits_32(_: Any, bits: Any) -> Any:
    """The float32 made of 32 bits."""
    return types.float32(types.int32), lambda c, builder, s, arguments: builder.bitcast(
        arguments[0], ir.FloatType()
    )


@njit(cache=True, nogil=True, fastmath={"contract"})
def exponential(x):
    """exp(x) for |x| <= `LARGEST`, to about two units in the last place; exactly 1 at 0.

    exp(x) = 2^k exp(r) with k the integer nearest to x / log 2; |r| <= log(2) / 2 = 0.35, where the
    Taylor polynomial of degree 13 is off by 0.35^14 / 14! = 4e-18. No branch, no table, no call.
    """
    c = _TAYLOR
    shifted = x * _PER_LOG_2 + _ROUNDER
    k = shifted - _ROUNDER
    r = (x - k * _LOG_2_HIGH) - k * _LOG_2_LOW
    r2 = r * r
    r4 = r2 * r2
    first = (c[2] + c[3] * r) + r2 * ((c[4] + c[5] * r) + r2 * (c[6] + c[7] * r))
    second = (c[8] + c[9] * r) + r2 * (c[10] + c[11] * r) + r4 * (c[12] + c[13] * r)
    power = _from_bits((_bits(shifted) - _ROUNDER_BITS + 1023) << 52)  # 2^k
    return ((1.0 + r) + r2 * (first + r2 * r4 * second)) * power


@njit(cache=True, nogil=True, fastmath={"contract"})
def exponential_32(x):
    """As `exponential`, in float32 and for float32, |x| <= 80: degree 7, off by 0.35^8 / 8! = 6e-9.

    Numba widens a float32 beside a Python number, so every constant has its type.
    """
    shifted = x * _PER_LOG_2_32 + _ROUNDER_32
    k = shifted - _ROUNDER_32
    r = (x - k * _LOG_2_HIGH_32) - k * _LOG_2_LOW_32
    p = _TAYLOR_32[7]
    p = p * r + _TAYLOR_32[6]
    p = p * r + _TAYLOR_32[5]
    p = p * r + _TAYLOR_32[4]
    p = p * r + _TAYLOR_32[3]
    p = p * r + _TAYLOR_32[2]
    p = p * r + _TAYLOR_32[1]
    p = p * r + _TAYLOR_32[0]
    # The shift leaves nothing of the rounder's own bits.
    return p * _from_bits_32((_bits_32(shifted) << np.int32(23)) + np.int32(127 << 23))
