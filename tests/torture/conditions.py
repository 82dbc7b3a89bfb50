"""Conditions that operators meet: kills, signals, full and read-only disks, two writers, no W&B."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from experiment_runs import arguments, train_here
from torture.commands import fault_of
from torture.inputs import Inputs
from torture.jobs import Job, jobs, leftovers
from torture.processes import Action, Child, kill_at_random

Case = tuple[str, str | None]
Condition = Callable[[Inputs, int, random.Random], Iterator[Case]]


def killed(name: str, number: int = signal.SIGKILL) -> Condition:
    """Send a signal to a command at random times; the rerun at the end is as if undisturbed."""

    def condition(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[Case]:
        job = jobs(inputs)[name]
        expected, seconds = _undisturbed(job, inputs)
        folder = _fresh(inputs, job)
        title = f"{signal.Signals(number).name} in {name}"
        for case in range(cases):
            child = kill_at_random(partial(job.run, folder), seconds, rng, number)
            yield title, _fault_after(child, number, job, folder)
            if child.code == 0 or case == cases - 1:
                again = _ended(partial(job.run, folder))
                yield f"{title}: rerun", _wrong_end(again, job, folder, expected)
                folder = _fresh(inputs, job)

    return condition


def _undisturbed(job: Job, inputs: Inputs) -> tuple[object, float]:
    """Content of the output of an undisturbed run, and its seconds (of the second run)."""
    for _ in range(2):
        folder = _fresh(inputs, job)
        began = time.monotonic()
        child = _ended(partial(job.run, folder), seconds=300)
        seconds = time.monotonic() - began
        assert child.code == 0, f"{job.name} fails undisturbed: {child.shown[-500:]}"
    return job.content(folder), seconds


def _ended(
    action: Action, before: Callable[[], object] | None = None, seconds: float = 120
) -> Child:
    child = Child(action, before)
    child.wait(seconds)
    return child


def _fault_after(child: Child, number: int, job: Job, folder: Path) -> str | None:
    """What is wrong after a signal: exit code, messages, or what a rerun would find."""
    legal = {signal.SIGINT: (0, 130, -2), signal.SIGTERM: (0, 143, -15), signal.SIGKILL: (0, -9)}
    if child.code not in legal[signal.Signals(number)]:
        return f"exit code {child.code}: {child.shown[-300:]}"
    if "Traceback" in child.shown and number != signal.SIGINT:
        return f"traceback: {child.shown[-300:]}"
    try:
        job.check(folder)
    except (AssertionError, ValueError) as error:
        return f"{error}"
    return None


def _wrong_end(child: Child, job: Job, folder: Path, expected: object) -> str | None:
    if child.code != 0:
        return f"exit code {child.code}: {child.shown[-300:]}"
    if job.content(folder) != expected:
        return "another result than an undisturbed run"
    left = leftovers(folder)
    return f"left behind: {', '.join(left)}" if left else None


def full_disk(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[Case]:
    """A limit on the size of files, and a small tmpfs where mounting is allowed."""
    for name, job in jobs(inputs).items():
        expected, _ = _undisturbed(job, inputs)
        for size in (0, 1, 40, 400, 4_000)[: max(1, cases)]:
            folder = _fresh(inputs, job)
            limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, -1))
            child = _ended(partial(job.run, folder), limit)
            yield f"file size limit in {name}", _one_line(child)
            again = _ended(partial(job.run, folder))
            yield f"file size limit in {name}: rerun", _wrong_end(again, job, folder, expected)
        with _tmpfs(inputs, job, full=True) as small:
            if small is not None:
                yield f"full tmpfs in {name}", _one_line(_ended(partial(job.run, small)))


@contextmanager
def _tmpfs(inputs: Inputs, job: Job, *, full: bool) -> Iterator[Path | None]:
    """A file system of 1 MB, nearly full or read-only; ``None`` where mounting is not allowed."""
    folder = _new(inputs, f"{job.name}-tmpfs")
    options = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(options, capture_output=True).returncode != 0:
        yield None
        return
    try:
        job.prepare(folder)
        if full:
            free = os.statvfs(folder)
            (folder / "filling").write_bytes(b"x" * (free.f_bavail * free.f_frsize - (16 << 10)))
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def read_only(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[Case]:
    """An output folder that the user may not write to: refused before the work, exit code 2."""
    for name, job in jobs(inputs).items():
        with _tmpfs(inputs, job, full=False) as mounted:
            folder = mounted or _new(inputs, name)
            if mounted is None:  # not root, so permissions hold
                job.prepare(folder)
                folder.chmod(0o555)
            child = _ended(partial(job.run, folder))
            fault = None if child.code == 2 else f"exit code {child.code}, not 2: {child.shown}"
            yield f"read-only output in {name}", _one_line(child) or fault


def two_writers(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[Case]:
    """Two processes with one output: one may be refused, the output is complete."""
    for name, job in jobs(inputs).items():
        expected, seconds = _undisturbed(job, inputs)
        for _ in range(cases):
            folder = _fresh(inputs, job)
            first = Child(partial(job.run, folder))
            time.sleep(rng.uniform(0, seconds / 2))
            children = [first, Child(partial(job.run, folder))]
            for child in children:
                child.wait()
            faults = [_one_line(child) for child in children if child.code != 0]
            fault = next(filter(None, faults), None)
            if all(child.code != 0 for child in children):
                fault = fault or f"neither has finished: {[child.code for child in children]}"
            finished = next((child for child in children if child.code == 0), first)
            yield f"two writers in {name}", fault or _wrong_end(finished, job, folder, expected)


def no_wandb(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[Case]:
    """A W&B server that does not answer costs a warning, not the results."""
    folder = _new(inputs, "wandb")

    def settings() -> None:
        os.environ.update(WANDB_API_KEY="x" * 40, WANDB_BASE_URL="http://127.0.0.1:9")
        os.environ.update({f"WANDB_{k}_DIR": str(folder / k) for k in ("DATA", "CACHE", "CONFIG")})

    words = [word for word in arguments(folder) if word != "logger=none"]
    words += ["objective=mst", "split=0", "logger=wandb"]
    child = _ended(partial(train_here, *words), settings, 200)
    done = child.code == 0 and bool(list(folder.rglob("result.json")))
    yield "unreachable W&B", None if done else f"exit code {child.code}: {child.shown[-300:]}"


def _one_line(child: Child) -> str | None:
    if child.code is None or child.code < 0:
        return f"hangs, or ended by signal {child.code}"
    shown = child.shown.replace("train.py: error:", "supclust train: error:")
    if child.code == 1 and "FAILED (" in shown and "Traceback" not in shown:
        return None  # a sweep lists the jobs that failed
    return fault_of(child.code, shown)


def _fresh(inputs: Inputs, job: Job) -> Path:
    """A new folder with what the job needs."""
    folder = _new(inputs, job.name)
    job.prepare(folder)
    return folder


def _new(inputs: Inputs, name: str) -> Path:
    """An empty folder."""
    folder = inputs.scratch / "outputs" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
