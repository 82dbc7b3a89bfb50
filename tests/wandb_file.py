"""Read back what an offline W&B run wrote: records in LevelDB's log format, one protobuf each."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE_HEADER, BLOCK, RECORD_HEADER = 7, 32768, 7
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def chunks(content: bytes) -> Iterator[bytes]:
    """Whole records, put together from the pieces that lie in blocks of 32 kB."""
    assert content[:4] == b":W&B"
    place, record = FILE_HEADER, b""
    while place + RECORD_HEADER <= len(content):
        left = BLOCK - place % BLOCK
        if left < RECORD_HEADER:  # the rest of a block too small for a header
            place += left
            continue
        _, length, kind = struct.unpack_from("<IHB", content, place)
        place += RECORD_HEADER
        record += content[place : place + length]
        place += length
        if kind in (FULL, LAST):
            yield record
            record = b""


def records(folder: Path) -> list[Any]:
    """All records of the only offline run below a folder."""
    from wandb.proto import wandb_internal_pb2

    (file,) = folder.glob("**/offline-run-*/*.wandb")
    found = []
    for chunk in chunks(file.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(chunk)
        found.append(record)
    return found


def history(found: list[Any]) -> list[dict[str, Any]]:
    """One dictionary per call of ``log``."""
    return [items(record.history.item) for record in found if record.HasField("history")]


def summary(found: list[Any]) -> dict[str, Any]:
    """The last value of every key of the summary."""
    merged: dict[str, Any] = {}
    for record in found:
        if record.HasField("summary"):
            merged |= items(record.summary.update)
    return merged


def items(pairs: Any) -> dict[str, Any]:
    return {pair.key or "/".join(pair.nested_key): json.loads(pair.value_json) for pair in pairs}
