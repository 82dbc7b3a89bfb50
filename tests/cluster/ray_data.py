"""`supclust.cluster.label_blocks` inside Ray Data, beside the same call on a data frame."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from supclust.cluster import label_blocks


def partition(frame: pd.DataFrame) -> set[frozenset[int]]:
    """The clusters, as sets of ids."""
    return {frozenset(group) for _, group in frame.groupby(["block", "cluster"])["id"]}


def few_blocks() -> pd.DataFrame:
    """The first 40 blocks of the table in this folder."""
    frame = pd.read_parquet("records.parquet")
    return frame[frame["block"].isin(frame["block"].unique()[:40])].reset_index(drop=True)


def main(address: str) -> int:
    """Exit code 1 if the clusters differ."""
    import ray

    frame = few_blocks()
    expected = partition(label_blocks(frame, "model", by="block"))
    ray.init(address, log_to_driver=False)
    dataset = ray.data.from_pandas(frame)
    folder = str(Path("model").resolve())
    by_group = dataset.groupby("block").map_groups(
        lambda group: label_blocks(group, folder), batch_format="pandas"
    )
    whole = dataset.repartition(1).map_batches(
        lambda batch: label_blocks(batch, folder, by="block"),
        batch_format="pandas",
        batch_size=None,
    )
    for name, made in (("map_groups", by_group), ("map_batches", whole)):
        if partition(made.to_pandas()) != expected:
            print(f"{name} gives other clusters")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
