"""`result.json`, the unit of truth: written atomically, read with distrust."""

from __future__ import annotations

import json
import logging
import math
import os
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

RESULT_FILE = "result.json"
FORMAT = 1
_REQUIRED = ("status", "dataset", "objective", "split", "seed", "config_hash", "config")

_logger = logging.getLogger(__name__)


class OtherConfigError(ValueError):
    """A folder holds a finished result of another configuration."""


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file so that it is there completely or not at all, whenever the power fails."""
    write_text(path, json.dumps(_encoded(value), indent=1, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file beside its place, then rename it there."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file beside its place, then rename it there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not by `tempfile`, whose files nobody else may read: results are there to be shared.
    draft = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        with draft.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object; ``None`` where the file is absent, cut off or something else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return _decoded(value) if isinstance(value, dict) else None


def read_result(path: Path) -> dict[str, Any] | None:
    """A result, finished or failed; ``None`` where there is none that can be trusted."""
    result = read_json(path)
    if result is None or any(key not in result for key in _REQUIRED):
        return None
    if result["status"] == "done" and not result.get("linkages"):
        return None
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
    found = []
    for key in dict.fromkeys([*here, *there]):
        one, other = there.get(key, "nothing"), here.get(key, "nothing")
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found += differences(one, other, f"{prefix}{key}.")
        elif one != other:
            found.append(f"{prefix}{key}: {_short(one)} there, {_short(other)} here")
    return found


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
    for path in sorted(root.rglob(RESULT_FILE)):
        result = read_result(path)
        if result is None:
            _logger.warning("%s cannot be read and is left out; run its job again", path)
            continue
        yield {**result, "path": str(path)}


def _encoded(value: Any) -> Any:
    """JSON has no infinities and no NaN: they are written as "inf", "-inf" and null."""
    if isinstance(value, Mapping):
        return {str(key): _encoded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encoded(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _decoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    return _INFINITIES.get(value, value) if isinstance(value, str) else value


_INFINITIES = {"inf": math.inf, "-inf": -math.inf}
