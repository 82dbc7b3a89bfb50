"""`supclust.cluster.label_blocks` in Spark's ``applyInPandas``, beside the same call on a frame."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cluster.ray_data import few_blocks, partition
from supclust.cluster import label_blocks


def main() -> int:
    """Exit code 1 if the clusters differ."""
    from pyspark.sql import SparkSession
    from pyspark.sql.types import LongType, StructField, StructType

    os.environ["PYSPARK_PYTHON"] = sys.executable
    frame, model = few_blocks(), str(Path("model").resolve())
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for name in ("spark.driver.bindAddress", "spark.driver.host"):
        builder = builder.config(name, "127.0.0.1")
    dataset = builder.getOrCreate().createDataFrame(frame)
    schema = StructType([*dataset.schema.fields, StructField("cluster", LongType())])
    made = dataset.groupBy("block").applyInPandas(lambda f: label_blocks(f, model), schema)
    return int(partition(made.toPandas()) != partition(label_blocks(frame, model, by="block")))


if __name__ == "__main__":
    sys.exit(main())
