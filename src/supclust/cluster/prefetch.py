"""Read ahead in a thread, a few items at a time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def prefetched(items: Iterable[Item], ahead: int = 1) -> Iterator[Item]:
    """The same items, the next ones being made while one is used.

    An error of the source is raised where its item would have come. When the reader stops early,
    the thread stops at its next item.

    >>> list(prefetched(range(3)))
    [0, 1, 2]
    """
    ready: queue.Queue[tuple[str, Item | BaseException | None]] = queue.Queue(ahead)
    stopped = threading.Event()

    def put(kind: str, value: Item | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                ready.put((kind, value), timeout=0.1)
                return
            except queue.Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put("item", item)
                if stopped.is_set():
                    return
        except BaseException as error:
            put("error", error)
        else:
            put("end", None)

    thread = threading.Thread(target=work, name="supclust-reader", daemon=True)
    thread.start()
    try:
        while True:
            kind, value = ready.get()
            if kind == "end":
                return
            if kind == "error":
                assert isinstance(value, BaseException)
                raise value
            yield value  # type: ignore[misc]
    finally:
        stopped.set()
        thread.join()
