"""Kill a process at every step that it takes in a folder, one after the other.

An audit hook counts the calls that open, rename, make or remove something below the folder, and
kills the process before the k-th. The action runs in forked children, so the caller has one thread.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

_EVENTS = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.scandir")


def kill_at_every_step(
    action: Callable[[], object], folder: Path, check: Callable[[bool], object]
) -> int:
    """Run an action until it comes to its end, killed at step 0, 1, 2, ... before.

    Args:
        action: what a child process does. It starts again where the last one was killed.
        folder: whose files count.
        check: called after every child, with whether the action was complete.

    Returns:
        The number of steps at which it was killed.
    """
    for step in count():
        code = in_child(action, folder, step)
        assert code in (0, -signal.SIGKILL), f"the action failed with {code} after step {step}"
        check(code == 0)
        if code == 0:
            return step
    raise AssertionError("not reached")


def in_child(action: Callable[[], object], folder: Path, step: int | None = None) -> int:
    """Exit code of an action in a child process, negative after a signal.

    ``step``: kill it before this call; default: never.
    """
    child = os.fork()
    if child == 0:
        try:
            if step is not None:
                sys.addaudithook(_killer(os.fspath(folder), step))
            action()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _killer(folder: str, step: int) -> Callable[[str, tuple[Any, ...]], None]:
    left = step

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if event in _EVENTS and str(arguments[0]).startswith(folder):
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

    return hook
