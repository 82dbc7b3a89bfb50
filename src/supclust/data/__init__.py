"""Labelled blocks of points: records, readers, splits, stand-ins.

Everything is imported on first use, so that ``import supclust.data`` costs nothing: no pandas, no
torch, no Lightning until something needs them.
"""

from __future__ import annotations

import importlib
from typing import Any

_EXPORTS = {
    "Block": "block",
    "BlockBatch": "batch",
    "BlockDataModule": "datamodule",
    "Dataset": "block",
    "DataError": "errors",
    "load_dataset": "sets.registry",
    "list_datasets": "sets.registry",
    "check_path": "check",
    "default_cache_dir": "cache",
    "split": "splits",
    "split_dataset": "splits",
    "DatasetSplit": "splits",
    "SplitIndices": "splits",
    "shape": "sets.shapes",
    "read_shape": "sets.shapes",
}

__all__ = sorted(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_EXPORTS[name]}")
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
