"""Errors of usage as one message: what is wrong, which values are legal, no traceback."""

from __future__ import annotations

import difflib
import sys
import traceback
from collections.abc import Iterator
from pathlib import PurePosixPath

from hydra.errors import HydraException, MissingConfigException
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

INTERRUPTED = 130  # exit code after Ctrl-C, as in shells
_LAUNCHER_EXTRAS = {"joblib": "parallel", "submitit": "slurm", "ray": "ray"}
_HIDDEN = ("hydra", "paper", "sweep")  # top-level keys that are not options of a run


def explain(error: BaseException) -> int:
    """Print an error and return the exit code.

    Returns:
        2 for wrong usage (errors of Hydra and OmegaConf, and ``ValueError``, which supclust raises
        for illegal input), 1 with a traceback for everything else.
    """
    message = usage_error(error)
    if message is None and isinstance(error, HydraException | OmegaConfBaseException):
        message = _composition_message(error)
    if message is None:
        traceback.print_exception(error)
        return 1
    print_usage_error(message)
    return 2


def usage_error(error: BaseException) -> str | None:
    """The message of the first ``ValueError`` of ours in a chain of exceptions, if there is one."""
    for link in _chain(error):
        if isinstance(link, ValueError) and not isinstance(link, OmegaConfBaseException):
            return str(link)
    return None


def print_usage_error(message: str) -> None:
    """Print an error of usage, without a traceback."""
    print(f"train.py: error: {message}", file=sys.stderr)
    print("Help: python train.py --help; traceback: HYDRA_FULL_ERROR=1.", file=sys.stderr)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and the exceptions it was raised from."""
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__


def _composition_message(error: BaseException) -> str:
    """Message for an error of Hydra, by the attributes of the exceptions in its chain."""
    for link in _chain(error):
        if isinstance(link, ConfigAttributeError | ConfigKeyError) and link.full_key:
            return _unknown_option(link)
        if isinstance(link, MissingConfigException) and link.missing_cfg_file is not None:
            return _unknown_choice(link)
    cause = error.__cause__
    text = str(error).strip()
    return f"{text}\n{cause}" if cause is not None and str(cause) not in text else text


def _unknown_option(error: OmegaConfBaseException) -> str:
    """A key that does not exist, with the keys of its parent."""
    key = str(error.full_key)
    parent, _, last = key.rpartition(".")
    siblings = [] if error.parent_node is None else list(error.parent_node)
    legal = [str(name) for name in siblings if parent or name not in _HIDDEN]
    close = difflib.get_close_matches(last, legal, n=1)
    prefix = f"{parent}." if parent else ""
    hint = f" Did you mean {prefix}{close[0]}?" if close else ""
    options = f"Options of {parent}" if parent else "Options"
    return f"there is no option {key!r}.{hint}\n{options}: {', '.join(legal)}"


def _unknown_choice(error: MissingConfigException) -> str:
    """A file of ``conf/`` that does not exist, with the choices of its group."""
    path = PurePosixPath(str(error.missing_cfg_file))
    group, name, legal = str(path.parent), path.name, list(error.options or [])
    if group == "hydra/launcher":
        for launcher, extra in _LAUNCHER_EXTRAS.items():
            if name.startswith(launcher):
                return (
                    f"the launcher {name!r} is not installed. "
                    f'Install it with: pip install "supclust[{extra}]"'
                )
    if group == "." or not legal:
        return str(error).strip()
    close = difflib.get_close_matches(name, legal, n=1)
    hint = f" Did you mean {group}={close[0]}?" if close else ""
    return f"there is no {group} {name!r}.{hint}\nChoices of {group}: {', '.join(legal)}"
