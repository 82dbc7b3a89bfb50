"""Square tiles of a matrix in vectors: compared with their transpose, or written with it.

A tile is transposed in registers, so no column is read number by number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from supclust.kernels import vector_intrinsic

VECTOR_BYTES = 64
_INT, _LONG = ir.IntType(32), ir.IntType(64)


class _Tile:
    """Builds loads, transposes and stores of tiles, one vector per row."""

    def __init__(self, builder: Any, kind: Any) -> None:
        self.builder = builder
        self.itemsize = 4 if kind == types.float32 else 8
        self.lanes = VECTOR_BYTES // self.itemsize
        number = ir.FloatType() if kind == types.float32 else ir.DoubleType()
        self.vector = ir.VectorType(number, self.lanes)

    def rows_of(self, matrix: Any, i: Any, j: Any) -> list[Any]:
        """Pointers to the rows of the tile at (i, j)."""
        builder = self.builder
        stride = cgutils.unpack_tuple(builder, matrix.strides, 2)[0]
        base = builder.ptrtoint(matrix.data, _LONG)
        base = builder.add(base, builder.mul(j, _LONG(self.itemsize)))
        starts = [builder.mul(builder.add(i, _LONG(r)), stride) for r in range(self.lanes)]
        pointer = self.vector.as_pointer()
        return [builder.inttoptr(builder.add(base, start), pointer) for start in starts]

    def rows_of_condensed(self, vector: Any, at: Any, step: Any) -> list[Any]:
        """Pointers to the rows of a tile of a condensed vector; see `unfold`."""
        builder, pointers = self.builder, []
        for r in range(self.lanes):
            row = builder.gep(vector.data, [at])
            pointers.append(builder.bitcast(row, self.vector.as_pointer()))
            at = builder.add(at, builder.sub(step, _LONG(r)))
        return pointers

    def load(self, pointers: list[Any]) -> list[Any]:
        return [self.builder.load(pointer, align=self.itemsize) for pointer in pointers]

    def store(self, rows: list[Any], pointers: list[Any]) -> None:
        for row, pointer in zip(rows, pointers, strict=True):
            self.builder.store(row, pointer, align=self.itemsize)

    def transposed(self, rows: list[Any]) -> list[Any]:
        """Transpose by exchanging ever smaller blocks."""
        rows, lanes = list(rows), self.lanes
        ints = ir.VectorType(_INT, lanes)
        width = lanes // 2
        while width:
            upper = [i if not i & width else lanes + i - width for i in range(lanes)]
            lower = [i + width if not i & width else lanes + i for i in range(lanes)]
            for r in range(lanes):
                if not r & width:
                    a, b = rows[r], rows[r + width]
                    rows[r] = self.builder.shuffle_vector(a, b, ir.Constant(ints, upper))
                    rows[r + width] = self.builder.shuffle_vector(a, b, ir.Constant(ints, lower))
            width //= 2
        return rows

    def none(self, bits: list[Any]) -> Any:
        """Whether all of these vectors of bits are false."""
        some = bits[0]
        for other in bits[1:]:
            some = self.builder.or_(some, other)
        number = ir.IntType(some.type.count)
        return self.builder.icmp_unsigned("==", self.builder.bitcast(some, number), number(0))

    def widen(self, rows: list[Any], extremes: Any) -> None:
        """Update a vector of smallest and one of largest numbers, lane by lane."""
        builder = self.builder
        for order, start in (("<", 0), (">", self.lanes)):
            place = builder.gep(extremes, [_LONG(start)])
            place = builder.bitcast(place, self.vector.as_pointer())
            numbers = [*rows, builder.load(place, align=4)]
            while len(numbers) > 1:
                a, b = numbers.pop(0), numbers.pop(0)
                numbers.append(builder.select(builder.fcmp_ordered(order, a, b), a, b))
            builder.store(numbers[0], place, align=4)


def _build_is_symmetric(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    matrix = context.make_array(signature.args[0])(context, builder, args[0])
    extremes = context.make_array(signature.args[3])(context, builder, args[3]).data
    tile, (i, j) = _Tile(builder, signature.args[0].dtype), args[1:3]
    rows = tile.load(tile.rows_of(matrix, i, j))
    tile.widen(rows, extremes)
    others = tile.load(tile.rows_of(matrix, j, i))
    pairs = zip(tile.transposed(rows), others, strict=True)
    return tile.none([builder.fcmp_unordered("!=", a, b) for a, b in pairs])


def _build_unfold(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    condensed, square, extremes = (
        context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 3, 6)
    )
    tile, (i, j) = _Tile(builder, signature.args[0].dtype), args[4:6]
    rows = tile.load(tile.rows_of_condensed(condensed, args[1], args[2]))
    tile.widen(rows, extremes.data)
    tile.store(rows, tile.rows_of(square, i, j))
    nan = [builder.fcmp_unordered("uno", a, b) for a, b in zip(rows[::2], rows[1::2], strict=True)]
    tile.store(tile.transposed(rows), tile.rows_of(square, j, i))
    return tile.none(nan)


def _plain_widen(rows: Any, extremes: Any) -> None:
    side = len(rows)
    extremes[:side] = np.fmin(extremes[:side], np.fmin.reduce(rows))
    extremes[side:] = np.fmax(extremes[side:], np.fmax.reduce(rows))


def _plain_is_symmetric(matrix: Any, i: int, j: int, extremes: Any) -> bool:
    side = len(extremes) // 2
    rows = matrix[i : i + side, j : j + side]
    _plain_widen(rows, extremes)
    return bool((rows == matrix[j : j + side, i : i + side].T).all())


def _plain_unfold(
    condensed: Any, at: int, step: int, square: Any, i: int, j: int, extremes: Any
) -> bool:
    side = len(extremes) // 2
    starts = [at + r * step - r * (r - 1) // 2 for r in range(side)]
    rows = np.stack([condensed[start : start + side] for start in starts])
    _plain_widen(rows, extremes)
    square[i : i + side, j : j + side] = rows
    square[j : j + side, i : i + side] = rows.T
    return not np.isnan(rows).any()


@vector_intrinsic(_plain_is_symmetric)
def is_symmetric_tile(_: Any, matrix: Any, i: Any, j: Any, extremes: Any) -> Any:
    """Whether the tile of a matrix at (i, j) is the transpose of that at (j, i); not with NaN.

    A side of a tile is one vector, `VECTOR_BYTES`. ``extremes``, a vector of smallest and one of
    largest numbers, is updated; NaN may or may not enter.
    """
    return types.boolean(matrix, types.int64, types.int64, extremes), _build_is_symmetric


@vector_intrinsic(_plain_unfold)
def unfold_tile(
    _: Any, condensed: Any, at: Any, step: Any, square: Any, i: Any, j: Any, extremes: Any
) -> Any:
    """Write a tile of a condensed vector to (i, j) of a square, and its transpose to (j, i).

    The first row of the tile begins at ``at`` of the vector, the second ``step`` behind it, and so
    on with ever shorter steps. ``extremes`` as in `is_symmetric_tile`.

    Returns:
        Whether there is no NaN in it.
    """
    long = types.int64
    return types.boolean(condensed, long, long, square, long, long, extremes), _build_unfold
