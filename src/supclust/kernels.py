"""Decorators for compiled code: cached Numba kernels, and intrinsics with a plain-Python twin.

Numba's cache compares a kernel with the file that it stands in, and not with the functions that it
calls. `kernel` stamps the cache entry with the code of all of them, so an edit recompiles the
edited kernels and their callers, and nothing else. With ``NUMBA_DISABLE_JIT=1``
kernels and intrinsics are plain Python functions.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from types import CodeType, FunctionType
from typing import Any

import numpy as np

try:
    from numba import njit
except ValueError as problem:  # of its environment variables, without naming them
    raise ValueError(
        f"Numba refuses its settings ({problem}). Correct the environment variables NUMBA_..., "
        "for example NUMBA_NUM_THREADS."
    ) from None
from numba.core import config
from numba.core.caching import FunctionCache
from numba.extending import intrinsic, overload

_DISABLED = bool(getattr(config, "DISABLE_JIT", False))


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function with Numba, without the GIL, cached by its code and its callees'.

    Division by zero gives infinity or NaN, as in NumPy. What Numba compiles for one kernel, such as
    ``np.empty``, serves all kernels of the same options.

    Args:
        function: The function; absent in ``@kernel(option=...)``.
        options: Of `numba.njit`, for example ``fastmath={"contract"}``.
    """
    if function is None:
        return partial(kernel, **options)
    if _DISABLED:
        return np.errstate(all="ignore")(function)  # compiled code does not warn either
    options = {"error_model": "numpy", "no_cfunc_wrapper": True, **options}
    dispatcher = njit(nogil=True, **options)(function)
    with suppress(RuntimeError):  # no folder for a cache can be written
        dispatcher._cache = _Cache(function)
        dispatcher._cache.dispatcher = dispatcher
    return dispatcher


def vector_intrinsic(twin: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Make a Numba intrinsic; ``twin`` computes the same where compilation is disabled."""

    def decorate(definition: Callable[..., Any]) -> Any:
        return twin if _DISABLED else intrinsic(definition)

    return decorate


def compiled_as(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """As `numba.extending.overload`, and a part of the stamp of kernels that call ``function``."""

    def decorate(choose: Callable[..., Any]) -> Any:
        _COMPILED_AS[function] = choose
        return overload(function)(choose)

    return decorate


_COMPILED_AS: dict[Any, Callable[..., Any]] = {}


@cache
def _say_once() -> None:
    """Say on a terminal that the first call takes long."""
    if sys.stderr is not None and sys.stderr.isatty():
        print("compiling kernels, once", file=sys.stderr, flush=True)


class _Cache(FunctionCache):
    """Numba's cache of one function, stamped when it is first used: callees exist by then."""

    dispatcher: Any = None
    _stamped = False

    def _stamp(self) -> None:
        if not self._stamped:
            self._cache_file._source_stamp = source_stamp(self.dispatcher)
            self._stamped = True

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        self._stamp()
        loaded = None
        try:
            loaded = super()._load_overload(signature, target_context)
        except (ImportError, AttributeError):  # entries of an older version name classes that moved
            self._cache_file.flush()
        if loaded is None:
            _say_once()
        return loaded

    def _save_overload(self, signature: Any, data: Any) -> None:
        self._stamp()
        with suppress(OSError):  # a cache that cannot be written costs time, not the result
            super()._save_overload(signature, data)


def source_stamp(function: Callable[..., Any]) -> str:
    """Return a digest of the code that a function is compiled from.

    It covers the bytecode of the function and of all functions and classes that it refers to within
    its top-level package, directly or through others, the options of kernels, and the values of
    global constants.
    """
    package = function.__module__.partition(".")[0]
    parts: set[str] = set()
    pending: list[Any] = [function]
    seen: dict[int, Any] = {}
    while pending:
        item = pending.pop()
        options = sorted((k, str(v)) for k, v in getattr(item, "targetoptions", {}).items())
        item = getattr(item, "py_func", getattr(item, "_defn", item))
        if id(item) in seen:
            continue
        seen[id(item)] = item
        if isinstance(item, partial):
            pending += [item.func, *item.args, *item.keywords.values()]
        elif isinstance(item, (FunctionType, type)):
            if (item.__module__ or "").partition(".")[0] == package:
                parts.add(f"{item.__module__}.{item.__qualname__} {options} {_code(item)}")
                pending += _references(item)
        elif isinstance(item, (tuple, list, frozenset)):
            pending += item
        elif isinstance(item, (bool, int, float, str, np.generic)):
            parts.add(repr(item))
    return hashlib.sha256(repr(sorted(parts)).encode()).hexdigest()


def _references(item: FunctionType | type) -> Iterator[Any]:
    """Objects that a function, or the methods and bases of a class, refer to."""
    if isinstance(item, type):
        yield from item.__bases__
        yield from (value for value in vars(item).values() if isinstance(value, FunctionType))
        return
    names = _names(item.__code__)
    yield from (item.__globals__[name] for name in names if name in item.__globals__)
    yield from (cell.cell_contents for cell in item.__closure__ or ())
    yield from item.__defaults__ or ()
    yield _COMPILED_AS.get(item)


def _nested(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of the functions defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _names(code: CodeType) -> set[str]:
    return {name for part in _nested(code) for name in part.co_names}


def _code(item: FunctionType | type) -> str:
    """Bytecode, names and constants of a function, without line numbers; of a class nothing."""
    if isinstance(item, type):
        return ""
    return repr(
        [
            (
                part.co_code,
                part.co_names,
                part.co_varnames,
                [c for c in part.co_consts if not isinstance(c, (CodeType, frozenset))],
            )
            for part in _nested(item.__code__)
        ]
    )
