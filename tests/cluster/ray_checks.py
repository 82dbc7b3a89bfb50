"""Two nodes of Ray: sweep, clustering, edges and Ray Data give what this machine alone gives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pyarrow.parquet as pq

from cluster.work import (
    Failure,
    cluster_command,
    require_success,
    run,
    same_bytes,
    same_summary,
    start,
    supclust,
    sweep,
    write_bare_table,
)
from supclust.cluster.chunks import CHUNK_RECORDS

ADDRESS = "127.0.0.1:6379"
_ON_RAY = ("--engine", "ray", "--address", ADDRESS)
_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0"}
Check = Callable[[Path, "TwoNodes"], str | None]


class TwoNodes:
    """A head and a second node, each with one core, and ports of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        where = f"--temp-dir={folder / 'ray'}"
        self.head = self._start("--head", "--port=6379", "--include-dashboard=false", where)
        self._wait_for(1)
        self.second: subprocess.Popen[str] | None = None
        self.start_second()

    def _start(self, *words: str) -> subprocess.Popen[str]:
        ray = Path(sys.executable).with_name("ray")
        common = ("--node-ip-address=127.0.0.1", "--num-cpus=1", "--block")
        memory = "--object-store-memory=500000000"
        return start([ray, "start", *words, *common, memory], self.folder, **_SETTINGS)

    def start_second(self) -> None:
        """Start the second node, unless it runs."""
        if self.second is None:
            self.second = self._start(f"--address={ADDRESS}")
            self._wait_for(2)

    def kill_second_if_busy(self) -> bool:
        """``kill -9`` all processes of the second node if one of them computes a task of ours."""
        assert self.second is not None
        family = psutil.Process(self.second.pid).children(recursive=True)
        with suppress(psutil.Error):  # a process may end meanwhile
            if not any("ray::_run" in " ".join(process.cmdline()) for process in family):
                return False
            for process in (*family, self.second):
                process.send_signal(signal.SIGKILL)
            self.second.wait()
            self.second = None
            return True
        return False

    def _wait_for(self, nodes: int) -> None:
        count = (
            "import ray, sys; ray.init(sys.argv[1], log_to_driver=False); "
            "sys.exit(sum(n['Alive'] for n in ray.nodes()) < int(sys.argv[2]))"
        )
        end = time.monotonic() + 120
        while time.monotonic() < end:
            words = [sys.executable, "-c", count, ADDRESS, str(nodes)]
            if subprocess.run(words, capture_output=True, env={**os.environ}).returncode == 0:
                return
            time.sleep(0.5)
        raise Failure(f"Ray did not start {nodes} nodes; see {self.folder / 'log.txt'}")


@contextmanager
def two_nodes(folder: Path) -> Iterator[TwoNodes]:
    """The cluster; its processes end with it."""
    os.environ.update(_SETTINGS)
    folder.mkdir()
    nodes = TwoNodes(folder)
    try:
        yield nodes
    finally:
        for node in (nodes.second, nodes.head):
            if node is not None:
                family = psutil.Process(node.pid).children(recursive=True)
                node.send_signal(signal.SIGTERM)
                psutil.wait_procs([*family], timeout=15)
                node.kill()


def only_loopback(folder: Path, nodes: TwoNodes) -> None:
    """No process listens on another interface, because there is none."""
    names = set(psutil.net_if_addrs())
    if names != {"lo"}:
        raise Failure(f"interfaces: {', '.join(sorted(names))}")


def clustering(folder: Path, nodes: TwoNodes) -> None:
    """``supclust cluster``."""
    run(cluster_command("ray.parquet", *_ON_RAY), folder)
    same_bytes(folder / "local.parquet", folder / "ray.parquet")


def _finished(folder: Path, output: str, process: subprocess.Popen[str]) -> int:
    """How many chunks of an output are finished; the command must still run."""
    if process.poll() is not None:
        raise Failure("it ended before something could be killed; use more --records")
    time.sleep(0.005)
    return len(list((folder / f"{output}.partial").glob("*-*.npy")))


def node_killed(folder: Path, nodes: TwoNodes) -> str:
    """``supclust cluster``, one node killed while it computes a chunk."""
    nodes.start_second()
    chunks = pq.read_metadata(folder / "records.parquet").num_rows // CHUNK_RECORDS
    process = start(cluster_command("killed.parquet", *_ON_RAY), folder)
    while True:
        finished = _finished(folder, "killed.parquet", process)
        if finished >= chunks // 2 and nodes.kill_second_if_busy():
            break
    require_success(process, folder)
    same_bytes(folder / "local.parquet", folder / "killed.parquet")
    return f"same; killed in a task, after {finished} of about {chunks} chunks"


def resumed(folder: Path, nodes: TwoNodes) -> str:
    """The command itself killed and run again, on Ray and then here."""
    for output, more in (("again.parquet", _ON_RAY), ("here.parquet", ())):
        process = start(cluster_command(output, *_ON_RAY), folder)
        while not _finished(folder, output, process):
            pass
        process.kill()
        process.wait()
        run(cluster_command(output, *more), folder)
        same_bytes(folder / "local.parquet", folder / output)
    log = (folder / "log.txt").read_text()
    if log.count("finished already") < 2:
        raise Failure("nothing was resumed")
    return "same, both times from finished chunks"


def refused(folder: Path, nodes: TwoNodes) -> None:
    """Wrong records: the error of a task is that of this machine, one line and exit code 2."""
    (folder / "bad.csv").write_text("id,block,name,year\n1,b,ann,1990\n2,b,bo,inf\n")
    words = supclust("cluster", "bad.csv", "--model", "model", "-o", "bad_clusters.csv")
    shown = []
    for more in ((), _ON_RAY):
        ended = subprocess.run(
            [*map(str, words), *more], cwd=folder, capture_output=True, text=True
        )
        lines = [line for line in ended.stderr.splitlines() if not line.startswith("[")]  # of Ray
        shown.append((ended.returncode, lines))
    if shown[0] != shown[1] or shown[0][0] != 2 or len(shown[0][1]) != 1:
        raise Failure(f"here {shown[0]}, on Ray {shown[1]}")


def edges(folder: Path, nodes: TwoNodes) -> None:
    """``supclust edges``, with its trees."""
    for name, more in (("local", ()), ("ray", _ON_RAY)):
        words = ("edges", "edges.parquet", "-o", f"edges_{name}.parquet")
        run(supclust(*words, "--tree", f"tree_{name}.parquet", *more), folder)
    for name in ("edges", "tree"):
        same_bytes(folder / f"{name}_local.parquet", folder / f"{name}_ray.parquet")


def bare_table(folder: Path, nodes: TwoNodes) -> None:
    """``supclust cluster`` with a model of a table without blocks."""
    write_bare_table(folder)
    for name, more in (("local", ()), ("ray", _ON_RAY)):
        words = ("persons.csv", "--model", "persons_model", "-o", f"persons_{name}.csv")
        run(supclust("cluster", *words, *more), folder)
    same_bytes(folder / "persons_local.csv", folder / "persons_ray.csv")


def smoke_sweep(folder: Path, nodes: TwoNodes) -> None:
    """The smoke sweep by the template ``ray``."""
    nodes.start_second()
    run(sweep(folder, "smoke", "basic"), folder)
    at = (f"hydra.launcher.ray.init.address={ADDRESS}", "hydra.launcher.ray.remote.num_cpus=1")
    run(sweep(folder, "ray", "ray", *at), folder)
    same_summary(folder, "ray")


def ray_data(folder: Path, nodes: TwoNodes) -> None:
    """`label_blocks` in ``map_groups`` and ``map_batches`` of Ray Data."""
    run([sys.executable, "-m", "cluster.ray_data", ADDRESS], folder)


CHECKS: dict[str, Check] = {
    "Ray: loopback only": only_loopback,
    "Ray: cluster, bytes as local": clustering,
    "Ray: cluster, a node killed": node_killed,
    "Ray: cluster, killed and resumed": resumed,
    "Ray: wrong records, error as local": refused,
    "Ray: edges, bytes as local": edges,
    "Ray: bare table, bytes as local": bare_table,
    "Ray: label_blocks in Ray Data": ray_data,
    "Ray: smoke sweep, summary as basic": smoke_sweep,
}
