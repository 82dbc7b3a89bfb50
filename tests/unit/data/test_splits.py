from __future__ import annotations

import hashlib
import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supclust.data import Block, DataError, Dataset, split, split_dataset
from supclust.data.layouts.vectors import read_vectors
from supclust.data.splits import default_sizes

IDS = [f"block{i}" for i in range(10)]


def test_golden_splits_never_change():
    # Results in the field depend on these: a change here is a change of every published number.
    assert split(IDS, 0, 0, (5, 2, 3)) == ([0, 2, 5, 7, 9], [3, 8], [1, 4, 6])
    assert split(IDS, 1, 0, (5, 2, 3)) == ([1, 3, 4, 5, 8], [2, 9], [0, 6, 7])
    assert split(IDS, 0, 1, (5, 2, 3)) == ([0, 2, 3, 5, 8], [1, 6], [4, 7, 9])


def test_the_order_is_that_of_the_hashes():
    order = sorted(IDS, key=lambda i: hashlib.sha256(f"7/3/0/{i}".encode()).hexdigest())
    parts = split(IDS, 3, 7, (4, 3, 3))
    assert {IDS[i] for i in parts.train} == set(order[:4])
    assert {IDS[i] for i in parts.dev} == set(order[4:7])
    assert {IDS[i] for i in parts.test} == set(order[7:])


@given(st.permutations(IDS), st.integers(0, 99), st.integers(0, 5))
def test_order_of_ids_and_global_randomness_do_not_matter(ids, number, seed):
    random.seed(number)
    np.random.seed(number)
    mine, reference = split(ids, number, seed, (6, 1, 3)), split(IDS, number, seed, (6, 1, 3))
    for part, expected in zip(mine, reference, strict=True):
        assert {ids[i] for i in part} == {IDS[i] for i in expected}
        assert part == sorted(part)


def test_parts_are_disjoint_and_splits_differ():
    seen = set()
    for number in range(50):
        parts = split(IDS, number, 0, (5, 2, 3))
        assert sorted(itertools.chain(*parts)) == list(range(10))
        seen.add(tuple(map(tuple, parts)))
    assert len(seen) >= 48


def test_redrawing_takes_the_first_accepted_attempt():
    first = split(IDS, 0, 0, (5, 2, 3))
    other = split(IDS, 0, 0, (5, 2, 3), accept=lambda parts: parts != first)
    assert other != first
    with pytest.raises(DataError, match="none of 20 draws passed the balance rule"):
        split(IDS, 0, 0, (5, 2, 3), accept=lambda parts: False, max_attempts=20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((IDS, -1, 0, (5, 2, 3)), "number of a split must be an integer >= 0; received -1"),
        ((IDS, True, 0, (5, 2, 3)), "must be an integer"),
        ((IDS, 0, 0, (5, 0, 3)), "three counts >= 1"),
        ((IDS, 0, 0, (6, 2, 3)), "at most 10"),
        ((["a", "a", "b"], 0, 0, (1, 1, 1)), "distinct ids"),
    ],
)
def test_impossible_requests_are_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        split(*arguments)


@pytest.mark.parametrize(
    ("count", "unit", "sizes"),
    [
        (100, "block", (60, 10, 30)),
        (10, "block", (6, 1, 3)),
        (3, "block", (1, 1, 1)),
        (20, "cluster", (7, 6, 7)),
        (3, "cluster", (1, 1, 1)),
    ],
)
def test_default_sizes(count, unit, sizes):
    assert default_sizes(count, unit) == sizes


@given(st.integers(3, 500), st.sampled_from(["block", "cluster"]))
def test_default_sizes_use_everything_and_leave_no_part_empty(count, unit):
    sizes = default_sizes(count, unit)
    assert sum(sizes) == count and min(sizes) >= 1


def test_too_few_units_are_refused():
    with pytest.raises(DataError, match="at least 3 blocks; received 2"):
        default_sizes(2, "block")


@pytest.mark.parametrize(("block", "advised"), [(None, True), ("where", False)])
def test_a_block_column_is_advised_only_where_none_was_given(tmp_path, block, advised):
    path = tmp_path / "points.csv"
    path.write_text("id,who,where,x\na1,Ann,room 1,1\na2,Ann,room 1,2\nb1,Bob,room 1,3\n")
    dataset = read_vectors(path, label="who", block=block)
    with pytest.raises(DataError, match="at least 3 clusters; received 2; add data") as refused:
        split_dataset(dataset, 0)
    assert ("name a block column" in str(refused.value)) is advised


def vectors(rng: np.random.Generator, k: int = 20, balance: float | None = 0.05) -> Dataset:
    labels = np.repeat(np.arange(k), 6)
    features = rng.normal(size=(k, 3))[labels] * 10 + rng.normal(size=(len(labels), 3))
    ids = tuple(str(i) for i in range(len(labels)))
    block = Block("v", ids, labels, "vectors", features)
    return Dataset(
        "v", "vectors", "file", (block,), ("x", "y", "z"), unit="cluster", balance=balance
    )


def mean_centroid_gap(block: Block) -> float:
    centroids = [block.features[block.labels == c].mean(axis=0) for c in range(block.n_clusters)]
    return float(np.mean([np.linalg.norm(a - b) for a, b in itertools.combinations(centroids, 2)]))


def test_clusters_are_dealt_out_whole_and_balanced(rng):
    data = vectors(rng)
    for number in range(10):
        parts = split_dataset(data, number)
        names = [set(part[0].cluster_names) for part in parts]
        assert [len(part) for part in names] == [7, 6, 7]
        assert len(set.union(*names)) == 20
        assert sum(part[0].n for part in parts) == data.n
        dev, test = mean_centroid_gap(parts.dev[0]), mean_centroid_gap(parts.test[0])
        assert abs(dev - test) < 0.05 * min(dev, test)


def test_without_the_rule_some_split_is_out_of_balance(rng):
    gaps = []
    for number in range(10):
        parts = split_dataset(vectors(np.random.default_rng(1), balance=None), number)
        dev, test = mean_centroid_gap(parts.dev[0]), mean_centroid_gap(parts.test[0])
        gaps.append(abs(dev - test) / min(dev, test))
    assert max(gaps) > 0.05


def test_a_rule_that_cannot_be_met_ends_with_an_error(rng):
    with pytest.raises(DataError, match="balance rule"):
        split_dataset(vectors(rng, balance=0.0), 0)


def test_the_number_of_a_split_may_be_given_by_name_and_by_numpy(rng):
    data = vectors(rng)
    named = split_dataset(dataset=data, split_number=3, seed=1)  # names that users rely on
    found = split_dataset(data, np.int64(3), 1)
    for part, other in zip(named, found, strict=True):
        assert part[0].cluster_names == other[0].cluster_names
    with pytest.raises(DataError, match=r"integer >= 0; received \[0, 1\]. Use 0 for the first"):
        split_dataset(data, [0, 1])


def test_blocks_are_dealt_out_whole(rng):
    blocks = tuple(
        Block(f"b{i}", ("a", "b"), np.array([0, 1]), "vectors", rng.normal(size=(2, 1)))
        for i in range(10)
    )
    data = Dataset("s", "vectors", "file", blocks, ("x",), sizes=(5, 2, 3))
    parts = split_dataset(data, 4, seed=2)
    assert [len(part) for part in parts] == [5, 2, 3]
    assert {block.name for part in parts for block in part} == {f"b{i}" for i in range(10)}
    assert [len(part) for part in split_dataset(data, 4, sizes=(1, 1, 1))] == [1, 1, 1]
