"""Parts of a range on several threads."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from supclust.hac.cpu.threads import _pool, over_parts


@pytest.mark.parametrize("threads", ["1", "2", "5"])
@pytest.mark.parametrize(("count", "parts"), [(0, None), (1, None), (7, 3), (100, None), (5, 64)])
def test_every_part_is_worked_on_once(
    threads: str, count: int, parts: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPCLUST_THREADS", threads)
    seen = np.zeros(count, int)

    def work(start: int, stop: int) -> None:
        seen[start:stop] += 1

    over_parts(work, count, parts)
    assert (seen == 1).all()


def test_threads_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPCLUST_THREADS", "2")
    workers = set()

    def work(start: int, stop: int) -> None:
        workers.add(threading.get_ident())
        time.sleep(0.01)

    over_parts(work, 20, 20)
    assert len(workers) == 2 and threading.get_ident() in workers


@pytest.mark.parametrize("wrong", [0, 19])
def test_an_error_of_any_part_is_raised(wrong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPCLUST_THREADS", "3")

    def work(start: int, stop: int) -> None:
        time.sleep(0.001)
        if start == wrong:
            raise KeyError(start)

    with pytest.raises(KeyError):
        over_parts(work, 20, 20)


@pytest.mark.timeout(60)
def test_parts_may_have_parts_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though every thread of the pool is waiting for them."""
    monkeypatch.setenv("SUPCLUST_THREADS", "2")
    seen = np.zeros((8, 8), int)

    def outer(start: int, stop: int) -> None:
        def inner(first: int, last: int) -> None:
            seen[start:stop, first:last] += 1
            time.sleep(0.001)

        over_parts(inner, 8, 8)

    over_parts(outer, 8, 8)
    assert (seen == 1).all()


@pytest.mark.timeout(60)
def test_all_parts_are_done_though_every_thread_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPCLUST_THREADS", "2")
    released, seen = threading.Event(), np.zeros(4, int)
    busy = [_pool(2, os.getpid()).submit(released.wait) for _ in range(2)]

    def work(start: int, stop: int) -> None:
        seen[start:stop] += 1

    over_parts(work, 4, 4)
    released.set()
    assert (seen == 1).all() and all(task.result() for task in busy)
