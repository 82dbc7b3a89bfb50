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


@pytest.mark.parametrize("threads", ["1", "2", "5"])
@pytest.mark.parametrize("parts", [1, 20])
def test_something_else_is_done_once_and_its_thread_helps(
    threads: str, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPCLUST_THREADS", threads)
    seen, events = np.zeros(20, int), []

    def work(start: int, stop: int) -> None:
        time.sleep(0.005)
        seen[start:stop] += 1
        events.append(threading.get_ident())

    over_parts(work, 20, parts, meanwhile=lambda: events.append(-threading.get_ident()))
    assert (seen == 1).all()
    others = [-event for event in events if event < 0]
    assert len(others) == 1
    if parts > 1 and threads != "1":
        assert others[0] != threading.get_ident() and others[0] in events


@pytest.mark.timeout(60)
def test_something_else_is_done_though_every_thread_is_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SUPCLUST_THREADS", "2")
    released, done = threading.Event(), []
    busy = [_pool(2, os.getpid()).submit(released.wait) for _ in range(2)]
    over_parts(lambda a, b: time.sleep(0.001), 4, 4, meanwhile=lambda: done.append(1))
    released.set()
    assert done == [1] and all(task.result() for task in busy)


def test_an_error_of_something_else_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPCLUST_THREADS", "2")

    def wrong() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        over_parts(lambda a, b: time.sleep(0.01), 9, 9, meanwhile=wrong)
