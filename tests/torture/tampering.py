"""Damage of files: what disks, other programs and other people do to them."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

STRANGE: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 2**40, 10**400, -(10**400), 0.5, 1e308, -0.0),
    *("", "x", "inf", "-inf", r"\inf", "../..", "/etc", "\0", "\ud800", "é" * 300, "<script>"),
    *([], [0], [None], ["a", "b"], [[[]]], {}, {"x": 1}, {"": None}),
)


def damaged_bytes(content: bytes, rng: random.Random) -> bytes:
    """The content cut off, with changed, added, removed or repeated bytes, or other content."""
    at = rng.randrange(len(content) + 1)
    size = rng.choice((1, 4, 64, 1024))
    noise = rng.randbytes(size)
    return rng.choice(
        (
            content[:at],
            content[at:],
            content[:at] + noise + content[at + size :],
            content[:at] + noise + content[at:],
            content[:at] + content[at + size :],
            content[:at] + content[max(0, at - size) :],
            content[:at] + b"\0" * size + content[at + size :],
            noise,
            b"",
        )
    )


def tampered(document: Any, rng: random.Random) -> Any:
    """A JSON document with one field removed, renamed, or of another value."""
    changed = copy.deepcopy(document)
    places = list(_places(changed))
    parent, key = rng.choice(places)
    action = rng.random()
    if action < 0.15:
        del parent[key]
    elif action < 0.25 and isinstance(parent, dict):
        parent[f"{key}x"] = parent.pop(key)
    elif action < 0.35 and isinstance(parent, list):
        parent.extend([parent[key]] * rng.choice((1, 100)))
    elif action < 0.5:
        other, name = rng.choice(places)
        parent[key] = copy.deepcopy(other.get(name) if isinstance(other, dict) else None)
    else:
        parent[key] = rng.choice(STRANGE)
    return changed


def damaged_json(content: bytes, rng: random.Random) -> bytes:
    """A JSON file with a field tampered with, or with damaged bytes, or nested too deeply."""
    action = rng.random()
    if action < 0.15:
        return damaged_bytes(content, rng)
    if action < 0.17:
        return b'{"format": ' + b"[" * 100_000
    return json.dumps(tampered(json.loads(content), rng)).encode("utf-8", "surrogatepass")


def _places(value: Any) -> Any:
    """Parent and key of every value of a document."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
