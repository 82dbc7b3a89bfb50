"""Read ``result.json``, one per job and split: checked, and compared with other settings."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from supclust.data.documents import read_document
from supclust.data.errors import DataError
from supclust.data.files import files_below
from supclust.model.checks import RESULT, wrong_in_result

RESULT_FILE = "result.json"
FORMAT = 1

_logger = logging.getLogger(__name__)


class OtherConfigError(ValueError):
    """A folder holds a finished result of another configuration."""


def read_result(path: Path) -> dict[str, Any] | None:
    """A result, finished or failed; ``None`` where there is none that can be trusted."""
    try:
        return _checked(path)
    except DataError:
        return None


def _checked(path: Path) -> dict[str, Any]:
    result = read_document(path, RESULT)
    if wrong := wrong_in_result(result):
        raise DataError(wrong, path)
    return result


def finished(path: Path, config_hash: str, identity: Mapping[str, Any]) -> dict[str, Any] | None:
    """The finished result at ``path``; ``None`` if it has to be done (again).

    Raises:
        OtherConfigError: a finished result of other settings is there.
    """
    result = read_result(path)
    if result is None or result["status"] != "done":
        return None
    if result["config_hash"] == config_hash:
        return result
    changes = differences(result["config"], identity)
    axes = [text.split(":")[0] for text in changes if "." in text.split(":")[0]]
    axes = [name.replace("objective_options.", "objective.") for name in axes]  # as in the config
    raise OtherConfigError(
        f"{path} holds a finished result of other settings ({'; '.join(changes[:5])}). "
        f"Delete its folder, use another paths.outputs, or give this one a folder of its own with "
        f"axes=[{axes[0] if axes else 'recipe.lr'}]."
    )


def differences(there: Mapping[str, Any], here: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Settings that differ, as text.

    >>> differences({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 3}})
    ['b.c: 2 there, 3 here']
    """
    changes = []
    for key in dict.fromkeys([*here, *there]):
        one, other = there.get(key, "nothing"), here.get(key, "nothing")
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            changes += differences(one, other, f"{prefix}{key}.")
        elif one != other:
            changes.append(f"{prefix}{key}: {_short(one)} there, {_short(other)} here")
    return changes


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:12]}…"


def find_results(folder: str | Path) -> Iterator[dict[str, Any]]:
    """Every readable result below a folder, with ``path``, in the order of their paths."""
    root = Path(folder)
    if not root.is_dir():
        raise ValueError(
            f"a folder of results is needed; {root} is none. "
            "Make results with `python train.py objective=exp_alpha dataset=faces`."
        )
    for path in files_below(root, RESULT_FILE):
        try:
            yield {**_checked(path), "path": str(path)}
        except DataError as problem:
            _logger.warning("left out: %s; run its job again", problem)
