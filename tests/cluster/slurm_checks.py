"""One node of SLURM (Debian's slurm-wlm and munge): a sweep and a clustering."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.work import Failure, cluster_command, run, same_bytes, same_summary, start, sweep

Check = Callable[[Path], "str | None"]
_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
_SYSTEM = "/usr/sbin:/sbin"


def missing_programs() -> list[str]:
    """Programs of SLURM that are not installed."""
    os.environ["PATH"] += f":{_SYSTEM}"
    return [name for name in _PROGRAMS if shutil.which(name) is None]


def _configuration(folder: Path, cores: int) -> str:
    return f"""
ClusterName=supclust
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName=localhost NodeAddr=127.0.0.1 CPUs={cores} RealMemory=4000 State=UNKNOWN
PartitionName=cpu Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def one_node(folder: Path) -> Iterator[None]:
    """A controller and a node on 127.0.0.1; ended by their process ids."""
    folder.mkdir(mode=0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    # Both of this namespace. SLURM resolves names only where an address is not 127.*; this one, for
    # documentation (RFC 5737), is an address of loopback.
    subprocess.run(["hostname", "localhost"], check=True)
    subprocess.run(["ip", "address", "add", "192.0.2.1/32", "dev", "lo"], check=True)
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    (folder / "slurm.conf").write_text(_configuration(folder, os.cpu_count() or 1))
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    files = {"key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    munge = [f"--{option}={folder}/munge.{name}" for option, name in files.items()]
    munge += [f"--socket={folder}/munge.socket", "--foreground", "--force"]
    daemons = [start(["munged", *munge], folder)]
    try:
        _wait(lambda: (folder / "munge.socket").exists(), "munge", folder)
        daemons.append(start(["slurmctld", "-D", "-i"], folder))
        daemons.append(start(["slurmd", "-D", "-N", "localhost"], folder))
        _wait(_idle, "the node of SLURM", folder)
        yield
    finally:
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in daemons:
            daemon.wait(30)


def _idle() -> bool:
    state = subprocess.run(["sinfo", "-h", "-o", "%t"], capture_output=True, text=True)
    return state.stdout.strip() == "idle"


def _wait(ready: Callable[[], bool], what: str, folder: Path) -> None:
    end = time.monotonic() + 60
    while not ready():
        if time.monotonic() > end:
            logs = [path.read_text()[-300:] for path in sorted(folder.glob("*.log"))]
            raise Failure(f"{what} did not start: {' / '.join(logs)}")
        time.sleep(0.3)


def smoke_sweep(folder: Path) -> None:
    """The smoke sweep by the template ``slurm``: an array of jobs, one core each."""
    if not (folder / "basic").exists():
        run(sweep(folder, "smoke", "basic"), folder)
    small = ("hydra.launcher.partition=cpu", "hydra.launcher.mem_gb=1")
    run(sweep(folder, "slurm", "slurm", *small), folder)
    same_summary(folder, "slurm")


def clustering(folder: Path) -> None:
    """``supclust cluster`` as a job."""
    words = cluster_command("slurm.parquet")
    job = ["sbatch", "--wait", "--partition=cpu", "--cpus-per-task=1", "--wrap"]
    run([*job, " ".join(map(str, words))], folder)
    same_bytes(folder / "local.parquet", folder / "slurm.parquet")


CHECKS: dict[str, Check] = {
    "SLURM: cluster, bytes as local": clustering,
    "SLURM: smoke sweep, summary as basic": smoke_sweep,
}
