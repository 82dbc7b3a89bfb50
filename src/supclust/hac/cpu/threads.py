"""Run compiled functions that release the GIL over parts of a range, on the machine's cores."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from itertools import pairwise


def thread_count() -> int:
    """Return how many threads to use: SUPCLUST_THREADS, or the cores this process may run on."""
    asked = os.environ.get("SUPCLUST_THREADS", "")
    if asked:
        if not asked.isdigit() or int(asked) < 1:
            raise ValueError(
                f"SUPCLUST_THREADS must be a positive integer; received {asked!r}. "
                "Unset it to use every core."
            )
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@lru_cache(maxsize=4)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    del process  # part of the key: a forked child must not use its parent's threads
    return ThreadPoolExecutor(threads, thread_name_prefix="supclust")


def over_parts(
    function: Callable[[int, int], None],
    count: int,
    parts: int | None = None,
) -> None:
    """Call ``function(start, stop)`` on consecutive parts of ``range(count)``, in parallel.

    The caller works too. Other threads come from our own pool rather than Numba's: Numba's layers
    are not all safe to call from several threads, or after a fork.

    Args:
        function: Releases the GIL; writes only what belongs to its part.
        count: Length of the range.
        parts: How many parts; 4 per thread by default.
    """
    threads = thread_count()
    parts = 1 if threads == 1 else min(count, parts or 4 * threads)
    if parts == 1 or count == 0:
        function(0, count)
        return
    bounds = [count * i // parts for i in range(parts + 1)]
    waiting = iter(list(pairwise(bounds)))

    def work() -> None:
        for start, stop in waiting:  # the GIL makes the iterator safe to share
            function(start, stop)

    pool = _pool(threads, os.getpid())
    helpers = [pool.submit(work) for _ in range(min(threads, parts) - 1)]
    try:
        work()
    finally:
        # Helpers that have not begun have nothing left to do, e.g. in a pool that waits for us.
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()
