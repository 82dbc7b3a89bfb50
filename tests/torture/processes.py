"""Commands in child processes: killed, interrupted, limited, two at a time.

Children are forked from a process that has imported everything and has run nothing, so that a
command starts at once. What they print goes through a pipe, which limits of files do not concern.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable

Action = Callable[[], int]
UNHANDLED = 70  # exit code of a child that an exception ended


class Child:
    """An action in a child process, which is a group of its own.

    Args:
        action: returns the exit code.
        before: called in the child first, for example to set limits.
    """

    def __init__(self, action: Action, before: Callable[[], object] | None = None) -> None:
        self.shown = ""
        self.code: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        self._output, written = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _be_child(action, before, written)
        os.close(written)
        os.set_blocking(self._output, False)

    def poll(self) -> bool:
        """Whether it has ended; reads what it has printed."""
        if self.code is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            self._read()
            if done:
                self.code = os.waitstatus_to_exitcode(status)
                os.close(self._output)
        return self.code is not None

    def wait(self, seconds: float = 120.0) -> int | None:
        """Exit code, negative after a signal; ``None`` if it is still running, which is ended."""
        end = time.monotonic() + seconds
        while not self.poll():
            if time.monotonic() > end:
                self.send(signal.SIGKILL)
                self.wait(10)
                return None
            time.sleep(0.005)
        return self.code

    def send(self, number: int) -> None:
        """Send a signal to it and to the processes that it has started."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:  # it has no group yet, or has ended
            os.kill(self.pid, number)

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._output, 1 << 16)
            except BlockingIOError:
                return
            if not part:
                return
            self.shown += part.decode(errors="replace")


def kill_at_random(action: Action, seconds: float, rng: random.Random, number: int) -> Child:
    """Run an action for a random time, then send a signal and wait."""
    child = Child(action)
    end = time.monotonic() + rng.uniform(0, seconds)
    while time.monotonic() < end and not child.poll():
        time.sleep(0.002)
    if not child.poll():
        child.send(number)
    child.wait()
    return child


def _be_child(action: Action, before: Callable[[], object] | None, written: int) -> None:
    code = UNHANDLED
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(written, 1)
        os.dup2(written, 2)
        if before:
            before()
        code = action()
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
