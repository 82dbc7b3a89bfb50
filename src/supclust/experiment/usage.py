"""Errors of usage in one message: what is wrong, what is legal, no traceback."""

from __future__ import annotations

import difflib
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

_UNKNOWN = re.compile(r"Could not (?:override|append to) '([^']+)'")
INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it
_CONFIG_LIBRARIES = ("hydra", "omegaconf", "antlr4")


def explain(error: BaseException, arguments: Sequence[str]) -> int:
    """Print an error and return the exit code.

    Returns:
        2 for wrong usage (Hydra's errors, and ``ValueError``, which is what we raise for a user's
        mistake), 1 with a traceback for everything else.
    """
    mistake = mistake_in(error)
    if mistake is not None:
        print_mistake(mistake)
        return 2
    if type(error).__module__.partition(".")[0] in _CONFIG_LIBRARIES:
        print_mistake(_composition_message(error, arguments))
        return 2
    traceback.print_exception(error)
    return 1


def mistake_in(error: BaseException) -> str | None:
    """What the user did wrong, if that is what the error, or one that it came from, says."""
    found = (str(e) for e in _chain(error) if isinstance(e, ValueError) and _ours(e))
    return next(found, None)


def print_mistake(message: str) -> None:
    """Say what is wrong in one message, without a traceback."""
    print(f"train.py: error: {message}", file=sys.stderr)
    print("Help: python train.py --help; traceback: HYDRA_FULL_ERROR=1.", file=sys.stderr)


def _ours(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] not in _CONFIG_LIBRARIES


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _composition_message(error: BaseException, arguments: Sequence[str]) -> str:
    text = str(error).strip()
    launcher = re.search(r"hydra/launcher/(joblib|submitit|ray)", text)
    if launcher is not None:
        extra = {"joblib": "parallel", "submitit": "slurm", "ray": "ray"}[launcher.group(1)]
        return f'{text}\nInstall the launcher with: pip install "supclust[{extra}]"'
    unknown = _UNKNOWN.search(text)
    if unknown is None:
        cause = error.__cause__
        return f"{text}\n{cause}" if cause is not None and str(cause) not in text else text
    key = unknown.group(1)
    legal = legal_keys(key, arguments)
    close = difflib.get_close_matches(key.rpartition(".")[2], legal, n=1)
    prefix = f"{key.rpartition('.')[0]}." if "." in key else ""
    hint = f" Did you mean {prefix}{close[0]}?" if close else ""
    where = f"Options of {prefix[:-1]}" if prefix else "Options"
    return f"there is no option {key!r}.{hint}\n{where}: {', '.join(legal)}"


def legal_keys(key: str, arguments: Sequence[str]) -> list[str]:
    """Names that may stand in place of the last part of a key."""
    from omegaconf import DictConfig, OmegaConf

    conf = Path(sys.argv[0]).resolve().parent / "conf"
    config = OmegaConf.load(conf / "config.yaml")
    assert isinstance(config, DictConfig)
    groups = [folder.name for folder in sorted(conf.iterdir()) if folder.is_dir()]
    parent = key.rpartition(".")[0]
    group = parent.partition(".")[0]
    if not parent:
        return groups + [str(name) for name in config if name not in ("defaults", "hydra", "sweep")]
    if group in groups:
        pattern = re.compile(rf"\+*{group}=(\w+)$")
        chosen = [match.group(1) for text in arguments if (match := pattern.match(text))]
        entries = [entry for entry in config.defaults if not isinstance(entry, str)]
        usual = [entry[group] for entry in entries if group in entry]
        place = conf / group / f"{[*usual, *chosen][-1]}.yaml"
        config = OmegaConf.create({group: OmegaConf.load(place) if place.is_file() else {}})
    found = OmegaConf.select(config, parent)
    return [str(name) for name in found] if isinstance(found, DictConfig) else []
