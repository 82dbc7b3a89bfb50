"""Labelled blocks of points: records, readers, splits, stand-ins.

Names are imported on first use: no pandas, torch or Lightning until something needs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust.data.batch import BlockBatch as BlockBatch
    from supclust.data.block import Block as Block
    from supclust.data.block import Dataset as Dataset
    from supclust.data.cache import default_cache_dir as default_cache_dir
    from supclust.data.check import check_path as check_path
    from supclust.data.datamodule import BlockDataModule as BlockDataModule
    from supclust.data.errors import DataError as DataError
    from supclust.data.sets.registry import list_datasets as list_datasets
    from supclust.data.sets.registry import load_dataset as load_dataset
    from supclust.data.sets.shapes import read_shape as read_shape
    from supclust.data.sets.shapes import shape as shape
    from supclust.data.splits import DatasetSplit as DatasetSplit
    from supclust.data.splits import SplitIndices as SplitIndices
    from supclust.data.splits import split as split
    from supclust.data.splits import split_dataset as split_dataset

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "block": ("Block", "Dataset"),
        "batch": ("BlockBatch",),
        "datamodule": ("BlockDataModule",),
        "errors": ("DataError",),
        "sets.registry": ("load_dataset", "list_datasets"),
        "check": ("check_path",),
        "cache": ("default_cache_dir",),
        "splits": ("DatasetSplit", "SplitIndices", "split", "split_dataset"),
        "sets.shapes": ("read_shape", "shape"),
    },
)
