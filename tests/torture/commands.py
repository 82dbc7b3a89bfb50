"""Run a command of ``supclust`` in this process, and judge how it ended."""

from __future__ import annotations

import io
import logging
import re
import warnings
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

from supclust.cli.main import main

LEGAL_CODES = (0, 1, 2)
_TRACE = re.compile(r"Traceback \(most recent call last\)|^\w+Error: ", re.MULTILINE)


class Ended(NamedTuple):
    """How a command ended: exit code, what it printed, and what is wrong with that, if anything."""

    code: int
    out: str
    err: str
    fault: str | None


def run(*arguments: object) -> Ended:
    """Run ``supclust`` with these arguments. Wrong is what a user should never see."""
    out, err = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(err)  # as logging does by itself where nothing is configured
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)
    try:
        with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", ResourceWarning)  # users do not see it
            try:
                code = main([str(word) for word in arguments])
            except SystemExit as stop:  # argparse
                code = int(stop.code or 0)
    except Exception as error:
        return Ended(1, out.getvalue(), err.getvalue(), f"{type(error).__name__}: {error}")
    finally:
        logging.getLogger().removeHandler(handler)
    return Ended(code, out.getvalue(), err.getvalue(), fault_of(code, err.getvalue()))


def fault_of(code: int, stderr: str) -> str | None:
    """What is wrong with an exit code and the messages before it."""
    if code not in LEGAL_CODES:
        return f"exit code {code}"
    if _TRACE.search(stderr):
        return f"traceback: {stderr.strip().splitlines()[-1]}"
    errors = re.findall(r"^supclust(?: \w+)?: error: .*$", stderr, re.MULTILINE)
    if code != 0 and len(errors) != 1:
        return f"exit code {code} with {len(errors)} lines of error: {stderr.strip()[-200:]}"
    if "Warning:" in stderr:
        return f"a Python warning: {stderr.strip()[-200:]}"
    return None
