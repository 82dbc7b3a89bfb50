"""Blocks, chunks and gathering: every record once, whatever the order and the memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from supclust.cluster import chunks
from supclust.cluster.chunks import gather, plan_blocks, prefetched
from supclust.data.errors import DataError


def batches(names: list[str], size: int) -> list[pa.RecordBatch]:
    table = pa.table({"block": names, "row": list(range(len(names)))})
    return table.to_batches(max_chunksize=size)


@pytest.mark.parametrize("order", ["sorted", "mixed"])
@pytest.mark.parametrize("memory", [1 << 20, 100, 0])
def test_chunks_hold_their_blocks_whole(
    tmp_path: Path,
    order: str,
    memory: int,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunks, "CHUNK_RECORDS", 40)
    names = np.repeat([f"b{i}" for i in range(25)], rng.integers(1, 20, 25)).tolist()
    if order == "mixed":
        names = [names[i] for i in rng.permutation(len(names))]
    made = batches(names, 17)
    plan = plan_blocks(made, "block")
    assert plan.n == len(names) and list(plan.names) == list(dict.fromkeys(names))
    assert plan.n_chunks > 3
    seen = []
    finished = {1}
    for chunk in gather(made, plan, finished, tmp_path, memory):
        assert chunk.number not in finished
        rows = chunk.table.column("row").to_pylist()
        assert rows == plan.rows(chunk.number).tolist()
        for first, stop in zip(chunk.starts[:-1], chunk.starts[1:], strict=True):
            held = {names[row] for row in rows[first:stop]}
            assert len(held) == 1
            assert rows[first:stop] == [i for i, name in enumerate(names) if {name} == held]
        seen += rows
    assert sorted(seen + plan.rows(1).tolist()) == list(range(len(names)))
    assert list(tmp_path.iterdir()) == []  # what was moved to disk is gone again


def test_records_without_a_block_are_refused() -> None:
    with pytest.raises(DataError, match="'block' is empty in record 3"):
        plan_blocks([pa.record_batch({"block": ["a", "b", None]})], "block")
    with pytest.raises(DataError, match="no records"):
        plan_blocks([], "block")


def test_prefetching_raises_the_error_of_the_source_and_stops_early() -> None:
    made = []

    def source():  # type: ignore[no-untyped-def]
        for i in range(100):
            made.append(i)
            if i == 50:
                raise ValueError("broken")
            yield i

    with pytest.raises(ValueError, match="broken"):
        list(prefetched(source()))
    made.clear()
    for i in prefetched(source()):
        if i == 3:
            break
    assert len(made) < 10
