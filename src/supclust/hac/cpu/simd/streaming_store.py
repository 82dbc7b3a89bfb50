"""Writing rows past the caches: a row that nobody reads soon should not push out what is read.

An ordinary store to memory first reads the line that it is about to overwrite. Whole lines written
past the caches need not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils

from supclust.hac.cpu.simd.argmin import INT, LONG, VECTOR_BYTES, intrinsic


def store_past_caches(builder: Any, line: Any, place: Any) -> None:
    """Store a vector to a place where a line of memory begins."""
    past_caches = builder.module.add_metadata([INT(1)])
    builder.store(line, place, align=VECTOR_BYTES).set_metadata("nontemporal", past_caches)


def _build_stream(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = signature.args[0].dtype
    source, target = (
        context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 1)
    )
    number = ir.FloatType() if kind == types.float32 else ir.DoubleType()
    itemsize = 4 if kind == types.float32 else 8
    lanes = VECTOR_BYTES // itemsize
    pointer = ir.VectorType(number, lanes).as_pointer()
    with cgutils.for_range_slice(builder, LONG(0), args[2], LONG(lanes)) as (at, _):
        line = builder.load(builder.bitcast(builder.gep(source, [at]), pointer), align=itemsize)
        store_past_caches(builder, line, builder.bitcast(builder.gep(target, [at]), pointer))
    return context.get_dummy_value()


@intrinsic
def _stream(_: Any, source: Any, target: Any, length: Any) -> Any:
    """Copy whole lines; ``target`` begins at one, and ``length`` is a multiple of one."""
    return types.void(source, target, types.int64), _build_stream


def _build_settle(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    builder.fence("seq_cst")
    return context.get_dummy_value()


@intrinsic
def settle(_: Any) -> Any:
    """Wait until everything written so far is there for other threads to see."""
    return types.void(), _build_settle


@njit(cache=True, nogil=True, error_model="numpy")
def write_row(source, target, length):
    """Copy the first ``length`` numbers past the caches, as far as they fill whole lines of memory.

    Another thread may read them after `settle`. Both arrays are contiguous, and a line of memory
    begins where ``target`` does.
    """
    lanes = VECTOR_BYTES // target.itemsize
    whole = length // lanes * lanes
    _stream(source, target, whole)
    for i in range(np.uint64(whole), np.uint64(length)):
        target[i] = source[i]
