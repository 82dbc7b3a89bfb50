from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

from oracles import metrics as oracle
from supclust.hac.tree import check_tree, children_of, cut_tree, joining_heights, leaf_counts
from trees import balanced_tree, chain_tree, random_tree

POINT = np.empty((0, 4))
PAIR = np.array([[0, 1, 0.5, 2]])


def by_first_appearance(labels: np.ndarray) -> list[int]:
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels.tolist()]


@pytest.mark.parametrize("n", [1, 2, 3, 10, 60])
def test_a_tree_made_by_scipy_passes_unchanged(n: int, rng: np.random.Generator) -> None:
    Z = linkage(rng.normal(size=(n, 3)), "average") if n > 1 else POINT
    before = Z.copy()
    np.testing.assert_array_equal(check_tree(Z), before)
    cut_tree(Z, height=1.0)
    np.testing.assert_array_equal(Z, before)


def test_lists_and_single_precision_are_taken() -> None:
    assert check_tree(PAIR.tolist()).dtype == np.float64
    assert check_tree(PAIR.astype(np.float32)).dtype == np.float64


@pytest.mark.parametrize(
    ("Z", "message"),
    [
        (np.empty((0,)), r"shape \(n-1, 4\).*received shape \(0,\).*one point"),
        (np.ones((2, 3)), r"shape \(n-1, 4\).*received shape \(2, 3\)"),
        (np.ones(4), r"received shape \(4,\)"),
        ([["a", "b", "c", "d"]], "numeric; received list"),
        ([[0, 1, np.nan, 2]], "above -inf; received nan in row 0; remove"),
        ([[0, 1, -np.inf, 2]], "above -inf; received -inf in row 0"),
        ([[0, 2, 1, 2]], r"row 0 must be whole numbers from 0 to 1; received \[0.0, 2.0\]"),
        ([[-1, 1, 1, 2]], r"received \[-1.0, 1.0\]"),
        ([[0, np.nan, 1, 2]], r"whole numbers.*received \[0.0, nan\]"),
        ([[0, 1, 1, 2], [2.5, 3, 1, 3]], r"row 1 must be whole numbers from 0 to 3"),
        ([[0, 1, 1, 2], [2, 4, 1, 3]], "row 1 must be whole numbers"),
        ([[0, 0, 1, 2]], "merged exactly once; received node 0 merged 2 times"),
        ([[0, 1, 1, 2], [0, 3, 1, 3]], "received node 0 merged 2 times; pass a whole tree"),
        ([[0, 1, 1, 2], [2, 3, 1, 2]], "must count the points.*received 2.0 in row 1; fill"),
    ],
)
def test_a_malformed_tree_is_refused(Z: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_tree(Z)


def test_leaf_counts() -> None:
    np.testing.assert_array_equal(leaf_counts(children_of(POINT)), [1])
    np.testing.assert_array_equal(leaf_counts(children_of(chain_tree(4))), [1, 1, 1, 1, 2, 3, 4])


@pytest.mark.parametrize("levels", [None, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 9, 40])
def test_cutting_at_a_height_matches_the_definition(
    n: int, levels: int | None, rng: np.random.Generator
) -> None:
    Z = random_tree(n, rng, levels)
    for height in [-np.inf, *Z[:, 2], *(Z[:, 2] + 1e-9), 0.123, np.inf]:
        np.testing.assert_array_equal(cut_tree(Z, height=height), oracle.cut(Z, height))


@pytest.mark.parametrize("method", ["single", "average", "complete", "centroid", "median"])
def test_cutting_at_a_height_matches_scipy(method: str, rng: np.random.Generator) -> None:
    """Centroid and median trees have merges below their own children."""
    Z = linkage(rng.normal(size=(50, 2)), method)
    for height in [0.0, *Z[::5, 2], Z[:, 2].max()]:
        expected = by_first_appearance(fcluster(Z, height, "distance"))
        assert cut_tree(Z, height=height).tolist() == expected


def test_a_merge_waits_for_those_below_it() -> None:
    Z = np.array([[0, 1, 3.0, 2], [2, 3, 1.0, 3]])
    np.testing.assert_array_equal(joining_heights(children_of(Z), Z[:, 2].copy()), [3.0, 3.0])
    assert cut_tree(Z, height=2.0).tolist() == [0, 1, 2]
    assert cut_tree(Z, n_clusters=2).tolist() == [0, 0, 1]


@pytest.mark.parametrize("Z", [POINT, PAIR, chain_tree(9), balanced_tree(8)])
def test_cutting_into_a_number_of_clusters(Z: np.ndarray) -> None:
    n = len(Z) + 1
    for count in range(1, n + 1):
        below = Z[n - count - 1, 2] if count < n else -np.inf
        np.testing.assert_array_equal(cut_tree(Z, n_clusters=count), oracle.cut(Z, below))


def test_ties_still_give_the_number_asked_for() -> None:
    Z = balanced_tree(8)
    Z[:, 2] = 1.0
    for count in range(1, 9):
        labels = cut_tree(Z, n_clusters=count)
        assert len(set(labels.tolist())) == count
    assert cut_tree(Z, n_clusters=np.int64(4)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_infinite_heights_merge_only_at_infinity() -> None:
    Z = np.array([[0, 1, 1.0, 2], [2, 3, np.inf, 3]])
    assert cut_tree(Z, height=1e308).tolist() == [0, 0, 1]
    assert cut_tree(Z, height=np.inf).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of height and n_clusters; received height=None, n_clusters=None"),
        ({"height": 1.0, "n_clusters": 1}, "exactly one of height and n_clusters; received"),
        ({"height": np.nan}, "height must be a number; received NaN"),
        ({"n_clusters": 0}, "between 1 and the number of points, 2; received 0"),
        ({"n_clusters": 3}, "between 1 and the number of points, 2; received 3"),
        ({"n_clusters": 1.5}, "must be an integer; received 1.5"),
        ({"n_clusters": True}, "must be an integer; received True"),
    ],
)
def test_a_cut_that_makes_no_sense_is_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cut_tree(PAIR, **arguments)
