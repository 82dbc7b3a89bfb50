"""The engine of a Ray cluster: one task per chunk, computed by whichever machine is free.

Machines need the same supclust, and nothing else of this one: model and records travel with the
tasks, as pickled bytes over the connections of the user's own cluster. Ray repeats a task whose
worker or machine died. Bytes, unlike arrays in Ray's memory, are unpickled to arrays that can be
written, for which the kernels are compiled.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import supclust
from supclust._lazy import extras_explained
from supclust.cluster.engine import Engine, Item, Prepared, Result
from supclust.data.errors import UnfinishedError

RETRIES = 10  # of a task whose worker or machine died
_SECONDS = 10.0  # to reach a cluster
_QUEUED = 2  # chunks per core that are computed or wait


@contextmanager
def connected(address: str | None = None) -> Iterator[Engine]:
    """The engine of the cluster at an address; default: see `supclust.cluster.engine`."""
    with extras_explained():
        import ray

    joined = ray.is_initialized()  # by the caller, whose connection stays open
    if not joined:
        address = address or os.environ.get("RAY_ADDRESS")
        try:
            _require_listener(address)
            ray.init(address or "auto", log_to_driver=False, logging_level="ERROR")
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as problem:
            where = f"at {address}" if address else "on this machine"
            raise ValueError(
                f"no Ray cluster answers {where}; received: {_first_line(problem)} Start one with: "
                "ray start --head, or name a running one with --address HOST:PORT."
            ) from None
    try:
        yield RayEngine()
    finally:
        if not joined:
            ray.shutdown()


def _require_listener(address: str | None) -> None:
    """Open and close a connection to HOST:PORT: without a server Ray itself waits for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _SECONDS).close()


class RayEngine:
    """A task per item; see `supclust.cluster.engine.Engine`."""

    def map(
        self,
        compute: Callable[[Prepared], Result],
        items: Iterable[tuple[int, Item]],
        prepare: Callable[[Item], Prepared],
    ) -> Generator[tuple[int, Result], None, None]:
        """As `Engine.map`, in the order in which tasks end; few items are held at a time."""
        import ray

        task = ray.remote(num_cpus=1, max_retries=RETRIES)(_run)
        work = ray.put(ray.cloudpickle.dumps((prepare, compute)))
        running: dict[Any, int] = {}
        for number, item in items:
            cores = int(ray.cluster_resources().get("CPU", 1))
            while len(running) >= _QUEUED * max(cores, 1):
                yield _ended(running)
            running[task.remote(supclust.__version__, work, ray.cloudpickle.dumps(item))] = number
        while running:
            yield _ended(running)


def _run(version: str, work: bytes, item: bytes) -> Any:
    """The task: compute an item on the one core that Ray has reserved.

    What is unpickled was pickled by the command that submitted the task, as are all arguments of
    Ray's tasks; as bytes, so that the versions are compared before it is read.
    """
    if version != supclust.__version__:
        raise ValueError(
            f"all machines of a Ray cluster need one version of supclust; received {version} here "
            f"and {supclust.__version__} on {os.uname().nodename}. Install the same."
        )
    os.environ.setdefault("SUPCLUST_THREADS", "1")
    prepare, compute = pickle.loads(work)
    return compute(prepare(pickle.loads(item)))


def _ended(running: dict[Any, int]) -> tuple[int, Any]:
    """Wait for a task; its number and result. Errors are those of the local engine."""
    import ray

    done = ray.wait(list(running), num_returns=1)[0][0]
    try:
        return running.pop(done), ray.get(done)
    except ray.exceptions.RayTaskError as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, ModuleNotFoundError):
            raise ValueError(
                f"a machine of the Ray cluster lacks what this one has; received: {cause}. Install "
                "the same supclust, with the same extras, on all machines."
            ) from None
        if isinstance(cause, (ValueError, MemoryError)):
            raise cause from None
        raise
    except ray.exceptions.RayError as error:
        raise UnfinishedError(
            f"the Ray cluster did not finish a task; received: {_first_line(error)} Run the same "
            "command again to go on."
        ) from None


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(" .:") + "." if lines else type(error).__name__ + "."
