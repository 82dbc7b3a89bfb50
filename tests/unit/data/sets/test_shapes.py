from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score

from supclust.data import DataError, read_shape, shape
from supclust.data.sets.shapes import SHAPES


def rand_of(block, method: str) -> float:
    cut = fcluster(linkage(block.features, method), block.n_clusters, "maxclust")
    return adjusted_rand_score(block.labels, cut)


def exponential_cut(block, alpha: float) -> np.ndarray:
    """Merge the two clusters of the least linkage, all linkages anew from sums, to k clusters."""
    distance = squareform(pdist(block.features))
    weight = np.exp(alpha * distance)
    weighted = weight * distance
    member = np.eye(block.n)
    while len(member) > block.n_clusters:
        value = (member @ weighted @ member.T) / (member @ weight @ member.T)
        np.fill_diagonal(value, np.inf)
        i, j = np.unravel_index(value.argmin(), value.shape)
        member[i] += member[j]
        member = np.delete(member, j, axis=0)
    return member.argmax(axis=0)


@pytest.mark.parametrize("name", list(SHAPES))
def test_shapes_are_repeatable_and_seeded(name):
    block = shape(name)
    assert block.d == 2 and block.kind == "vectors"
    assert np.array_equal(block.features, shape(name).features)
    assert not np.array_equal(block.features, shape(name, seed=1).features)


@pytest.mark.parametrize("seed", range(3))
def test_pathbased_needs_a_linkage_between_the_classical_ones(seed):
    block = shape("pathbased", seed)
    assert (block.n, block.n_clusters) == (300, 3)
    for method in ("single", "average", "complete"):
        assert rand_of(block, method) < 0.65
    if seed == 0:
        assert adjusted_rand_score(block.labels, exponential_cut(block, -1.0)) > 0.9


def test_chains_are_for_single_linkage():
    for name in ("spiral", "mismatch"):
        assert rand_of(shape(name), "single") == 1.0
        assert rand_of(shape(name), "complete") < 0.2


def test_aggregation_has_bridges_that_mislead_single_linkage():
    block = shape("aggregation")
    assert block.n_clusters == 7
    assert rand_of(block, "single") < 0.9 < rand_of(block, "average")


def write(folder, points, labels):
    with gzip.open(folder / "s.data.gz", "wt") as stream:
        stream.write(points)
    with gzip.open(folder / "s.labels0.gz", "wt") as stream:
        stream.write(labels)


def test_published_layout(tmp_path):
    write(tmp_path, "1 2\n3.5 -4\n", "2\n1\n")
    block = read_shape(tmp_path, "s")
    assert block.features.tolist() == [[1, 2], [3.5, -4]] and block.cluster_names == ("2", "1")


@pytest.mark.parametrize(
    ("points", "labels", "message"),
    [
        ("1 2\n3 x\n", "1\n1\n", r"s.data.gz:2: field 2 must be a finite number; received 'x'"),
        ("1 2\n3 nan\n", "1\n1\n", r"s.data.gz:2: field 2 must be a finite number"),
        ("1 2\n3\n", "1\n1\n", r"s.data.gz:2: expected 2 fields"),
        ("1 2\n3 4\n", "1\n", r"s.labels0.gz: expected 2 labels"),
    ],
)
def test_mistakes_in_the_published_layout(tmp_path, points, labels, message):
    write(tmp_path, points, labels)
    with pytest.raises(DataError, match=message):
        read_shape(tmp_path, "s")


def test_unknown_shapes_are_refused(tmp_path):
    with pytest.raises(DataError, match="shape must be one of pathbased"):
        shape("star")
    with pytest.raises(DataError, match=r"star\.data\.gz not found"):
        read_shape(tmp_path, "star")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "sizes"),
    [("pathbased", [110, 97, 93]), ("spiral", [101, 105, 106]), ("jain", [276, 97])],
)
def test_real_shapes(data_dir, name, sizes):
    if not (data_dir / "shapes2d").is_dir():
        pytest.skip("no shapes2d below SUPCLUST_DATA")
    block = read_shape(data_dir / "shapes2d", name)
    assert sorted(np.bincount(block.labels)) == sorted(sizes)
