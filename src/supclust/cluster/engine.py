"""Where chunks are computed: in this process, or by the tasks of a Ray cluster.

An engine maps numbered items that do not depend on each other to their results. Blocks of a table,
components of a graph and candidate pairs all go through it, so results cannot depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any, Protocol, TypeVar

from supclust.cluster.chunks import prefetched

Item = TypeVar("Item")
Prepared = TypeVar("Prepared")
Result = TypeVar("Result")
ENGINES = ("local", "ray")


class Engine(Protocol):
    """Computes the results of items."""

    def map(
        self,
        compute: Callable[[Prepared], Result],
        items: Iterable[tuple[int, Item]],
        prepare: Callable[[Item], Prepared],
    ) -> Generator[tuple[int, Result], None, None]:
        """Yield the number and ``compute(prepare(item))`` of every item, in any order.

        Close the iterator (`contextlib.closing`) when it is left early.
        """


class LocalEngine:
    """One item after the other, each on all cores; a thread prepares the next one."""

    def map(
        self,
        compute: Callable[[Prepared], Result],
        items: Iterable[tuple[int, Item]],
        prepare: Callable[[Item], Prepared],
    ) -> Generator[tuple[int, Result], None, None]:
        """As `Engine.map`, in the order of the items.

        >>> list(LocalEngine().map(sum, [(0, "12"), (1, "345")], lambda text: map(int, text)))
        [(0, 3), (1, 12)]
        """
        prepared = ((number, prepare(item)) for number, item in items)
        with closing(prefetched(prepared)) as ahead:
            for number, item in ahead:
                yield number, compute(item)


LOCAL = LocalEngine()


def same(item: Any) -> Any:
    """The item: for work that has nothing to prepare."""
    return item


def in_order(results: Iterable[tuple[int, Result]]) -> list[Result]:
    """All results by their numbers."""
    return [result for _, result in sorted(results, key=lambda numbered: numbered[0])]


@contextmanager
def opened_engine(name: str = "local", address: str | None = None) -> Iterator[Engine]:
    """The engine of a name, connected.

    Args:
        name: one of `ENGINES`.
        address: of a Ray cluster, as for ``ray.init``; default: the one that ``RAY_ADDRESS`` names,
            or that runs on this machine.
    """
    if name not in ENGINES:
        raise ValueError(f"the engine must be one of {', '.join(ENGINES)}; received {name!r}.")
    if name == "ray":
        from supclust.cluster.ray_engine import connected

        with connected(address) as engine:
            yield engine
        return
    if address is not None:
        raise ValueError(
            f"an address goes with the engine ray; received {address!r} for the engine local. "
            "Add --engine ray, or leave the address out."
        )
    yield LOCAL
