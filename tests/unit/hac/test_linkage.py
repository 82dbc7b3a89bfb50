"""`linkage` as SciPy's users meet it: forms of input, refusals, what SciPy makes of the result."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import supclust
from oracles.hac import replay
from supclust.hac import linkage, linkages, memory
from supclust.hac.cpu.dispatch import SMALL


def test_square_and_condensed_give_the_same_tree(rng: np.random.Generator) -> None:
    condensed = pdist(rng.normal(size=(130, 3)))
    for given in (condensed, condensed.astype(np.float32)):
        square = squareform(given, checks=False)
        np.testing.assert_array_equal(
            supclust.linkage(given, alpha=-1.0), supclust.linkage(square, alpha=-1.0)
        )


def test_result_works_in_scipy(rng: np.random.Generator) -> None:
    Z = supclust.linkage(pdist(rng.normal(size=(20, 3))), "exp", alpha=-1.0)
    assert hierarchy.is_valid_linkage(Z, throw=True)
    assert hierarchy.is_monotonic(Z)
    assert len(hierarchy.dendrogram(Z, no_plot=True)["leaves"]) == 20
    assert hierarchy.fcluster(Z, 3, "maxclust").max() == 3
    assert hierarchy.cophenet(Z).shape == (190,)


@pytest.mark.large
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ties_are_broken_as_in_scipy(dtype: type, rng: np.random.Generator) -> None:
    """Exactly, under complete linkage, which does not round."""
    for values in range(1, 60):
        n = int(rng.integers(2, 150))
        condensed = rng.integers(0, values, size=n * (n - 1) // 2).astype(dtype)
        expected = hierarchy.linkage(condensed.astype(float), "complete")
        np.testing.assert_array_equal(supclust.linkage(condensed, "complete"), expected)
        (Z,) = linkages([squareform(condensed, checks=False)], "complete")
        np.testing.assert_array_equal(Z, expected)


def test_one_point_gives_an_empty_tree() -> None:
    assert supclust.linkage(np.zeros((1, 1)), "single").shape == (0, 4)
    assert supclust.linkage(np.zeros(0), "exp", alpha=1.0).shape == (0, 4)


@pytest.mark.parametrize("dtype", [np.int32, np.float16, bool, np.uint8])
def test_other_real_numbers_are_converted(dtype: type) -> None:
    D = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]).astype(dtype)
    np.testing.assert_array_equal(supclust.linkage(D, "average")[:, 2], [0, 1])


def test_order_and_layout_do_not_matter(rng: np.random.Generator) -> None:
    D = squareform(pdist(rng.normal(size=(12, 3))))
    wide = np.zeros((12, 24))
    wide[:, ::2] = D
    expected = supclust.linkage(D, "average")
    np.testing.assert_array_equal(supclust.linkage(wide[:, ::2], "average"), expected)
    np.testing.assert_array_equal(supclust.linkage(np.asfortranarray(D), "average"), expected)
    np.testing.assert_array_equal(supclust.linkage(D.tolist(), "average"), expected)


def test_diagonal_is_ignored(rng: np.random.Generator) -> None:
    D = squareform(pdist(rng.normal(size=(12, 3))))
    strange = D.copy()
    np.fill_diagonal(strange, math.nan)
    for alpha in (-math.inf, -1.0, 0.0, 2.0, math.inf):
        np.testing.assert_array_equal(
            supclust.linkage(strange, alpha=alpha), supclust.linkage(D, alpha=alpha)
        )


def test_asymmetry_within_tolerance_is_averaged_away(rng: np.random.Generator) -> None:
    D = squareform(pdist(rng.normal(size=(12, 3))))
    nearly = D * (1 + 1e-10 * rng.normal(size=D.shape))
    np.testing.assert_allclose(
        supclust.linkage(nearly, alpha=-1.0), supclust.linkage(D, alpha=-1.0), rtol=1e-8
    )


def test_infinite_pairs_never_poison_the_tree(rng: np.random.Generator) -> None:
    D = squareform(pdist(rng.normal(size=(12, 3))))
    D[:4, 4:] = D[4:, :4] = math.inf  # two groups, never alike
    for dtype in (np.float64, np.float32):
        for alpha in (-math.inf, -7.0, -1e-3, 0.0, 1e-3, 7.0, math.inf):
            Z = supclust.linkage(D.astype(dtype), alpha=alpha)
            assert Z[-1, 2] == math.inf and np.isfinite(Z[:-1]).all()
            replay(D.astype(dtype).astype(float), Z, alpha, rtol=1e-5)
    everything = np.full((3, 3), math.inf)
    np.testing.assert_array_equal(supclust.linkage(everything, alpha=-1.0)[:, 2], math.inf)


def test_numbers_beyond_float32_sums_are_computed_in_float64() -> None:
    D = np.array([[0, 1e34, 3e34], [1e34, 0, 3e34], [3e34, 3e34, 0]], np.float32)
    np.testing.assert_allclose(supclust.linkage(D, "average")[:, 2], [1e34, 3e34], rtol=1e-6)


GOOD = np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (np.where(GOOD == 3, math.nan, GOOD), {}, r"neither NaN.*received nan at \[1, 2\]"),
        (np.where(GOOD == 3, -math.inf, GOOD), {}, "received -inf"),
        (GOOD + np.triu(GOOD), {}, r"symmetric.*received 2\.0 at \[0, 1\] but|symmetric.*but"),
        (GOOD[:2], {}, r"square.*received shape \(2, 3\)"),
        (np.zeros((2, 2, 2)), {}, "square"),
        (np.float64(3.0), {}, r"square.*received shape \(\)"),
        (np.arange(4.0), {}, r"condensed.*received 4, between 3 \(3 points\) and 6"),
        (np.zeros((0, 0)), {}, "at least one point"),
        (GOOD, {"alpha": math.nan}, "alpha must be a number"),
        (GOOD, {"alpha": None}, "needs alpha"),
        (
            GOOD,
            {"method": "ward", "alpha": None},
            "single, average, complete, exp; received 'ward'",
        ),
        (GOOD, {"method": "single", "alpha": 1.0}, "belongs to method 'exp' only"),
        (GOOD + 1j, {}, "real numbers; received dtype complex128"),
        (np.array([["a", "b"], ["b", "a"]]), {}, "real numbers"),
        (GOOD * 1e291, {}, r"below 1e290 in magnitude; received up to 3e\+291"),
        (np.where(GOOD == 3, math.inf, GOOD), {"alpha": 1e-300}, r"need 2e\+303 \(alpha 1e-300"),
    ],
)
def test_wrong_input_is_named(given: np.ndarray, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        supclust.linkage(given, **{"alpha": -1.0, **options})


def test_infinity_on_one_side_only_is_asymmetric() -> None:
    D = GOOD.copy()
    D[0, 1] = math.inf
    with pytest.raises(ValueError, match="symmetric"):
        supclust.linkage(D, "average")


def test_what_cannot_fit_is_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**20)
    huge = np.broadcast_to(np.float32(1), (2000 * 1999 // 2,))  # takes no memory itself
    with pytest.raises(ValueError, match=r"2,000 points .*needs 0\.0 GiB.*0\.0 GiB are available"):
        supclust.linkage(huge, "average")
    square = np.broadcast_to(np.float32(1), (40_000, 40_000))
    with pytest.raises(ValueError, match=r"40,000 points needs 11\.9 GiB"):
        supclust.linkage(square, "average")


@pytest.mark.parametrize(
    ("method", "matrices"), [("exp", 2), ("average", 1), ("complete", 1), ("single", 0)]
)
@pytest.mark.large
def test_memory_is_asked_for_what_a_method_needs(
    method: str, matrices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = SMALL + 100
    D, alpha = np.ones((n, n), np.float32), -1.0 if method == "exp" else None
    for enough in (True, False):
        limit = matrices * D.nbytes - (not enough)
        monkeypatch.setattr(memory, "available_bytes", lambda limit=limit: limit)
        if enough or not matrices:
            assert len(linkage(D, method, alpha=alpha)) == n - 1
        else:
            with pytest.raises(ValueError, match=rf"{n:,} points needs .* are available"):
                linkage(D, method, alpha=alpha)


@pytest.mark.parametrize("kind", [np.int8, np.float16, bool])
def test_numbers_of_another_kind_are_refused_before_they_are_copied(kind: type) -> None:
    huge = np.broadcast_to(kind(1), (2_000_000, 2_000_000))  # takes no memory itself
    for call in (lambda: linkage(huge, "single"), lambda: linkages([huge], "single")):
        with pytest.raises(ValueError, match=r"a copy of .* needs .* are available"):
            call()


def test_available_memory_is_a_plausible_number() -> None:
    room = memory.available_bytes()
    assert room is None or 2**20 < room < 2**50


def test_many_blocks_equal_one_at_a_time(rng: np.random.Generator) -> None:
    blocks = [squareform(pdist(rng.normal(size=(n, 2)))) for n in (5, 1, 2, 40, 17)]
    blocks[3][0, 1:] = blocks[3][1:, 0] = math.inf  # one block that needs the careful way
    for alpha in (-math.inf, -1.0, 0.0, math.inf):
        for Z, D in zip(linkages(blocks, alpha=alpha), blocks, strict=True):
            np.testing.assert_allclose(Z, supclust.linkage(D, alpha=alpha), rtol=1e-12)
    assert linkages([], "single") == []


def test_a_wrong_block_is_named() -> None:
    with pytest.raises(ValueError, match=r"block 1: .*symmetric"):
        linkages([GOOD, GOOD + np.triu(GOOD)], "average")
    with pytest.raises(ValueError, match=r"received shape \(2, 3\) for block 1"):
        linkages([GOOD, GOOD[:2]], "average")


@pytest.mark.large
@pytest.mark.parametrize("threads", ["1", "3"])
def test_thread_count_changes_nothing(
    threads: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    D = squareform(pdist(rng.normal(size=(2300, 3))))
    expected = supclust.linkage(D, alpha=0.5)
    monkeypatch.setenv("SUPCLUST_THREADS", threads)
    np.testing.assert_array_equal(supclust.linkage(D, alpha=0.5), expected)


def test_a_wrong_thread_count_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPCLUST_THREADS", "many")
    with pytest.raises(
        ValueError, match="SUPCLUST_THREADS must be a positive integer; received 'many'"
    ):
        linkages([GOOD, GOOD], "average")


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small matrices take the way of large ones."""
    monkeypatch.setattr("supclust.hac.cpu.dispatch.SMALL", 3)
    monkeypatch.setenv("SUPCLUST_THREADS", "2")


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    "spoil", ["nothing", "diagonal", "infinity", "asymmetry", "order", "large"]
)
def test_single_linkage_is_the_same_on_one_thread(spoil: str, rng: np.random.Generator) -> None:
    D = squareform(pdist(rng.normal(size=(60, 3)))).astype(np.float32)
    if spoil == "diagonal":
        np.fill_diagonal(D, -math.inf)
    elif spoil == "infinity":
        D[:7, 7:] = D[7:, :7] = math.inf
    elif spoil == "asymmetry":
        D = D * (1 + 1e-7 * rng.normal(size=D.shape).astype(np.float32))
    elif spoil == "order":
        D = np.asfortranarray(D)[::-1, ::-1]
    elif spoil == "large":
        D *= np.float32(1e35)
    grown = supclust.linkage(D, "single")
    with pytest.MonkeyPatch.context() as alone:
        alone.setenv("SUPCLUST_THREADS", "1")
        np.testing.assert_array_equal(grown, supclust.linkage(D, "single"))


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("odd", [math.nan, -math.inf, 99.0])
def test_a_wrong_large_matrix_is_refused(odd: float, rng: np.random.Generator) -> None:
    D = squareform(pdist(rng.normal(size=(60, 3))))
    D[20, 40] = odd
    with pytest.raises(ValueError, match="dissimilarities must be"):
        supclust.linkage(D, "single")
    with pytest.raises(ValueError, match="square"):
        supclust.linkage(np.zeros((5, 4)), "single")


def test_one_number_is_no_block() -> None:
    one = np.float64(3)
    for call in (lambda: linkage(one, "single"), lambda: linkages([one], "single")):
        with pytest.raises(ValueError, match=r"square \(n, n\) matrix.* received shape \(\)"):
            call()


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_the_order_of_bytes_does_not_matter(kind: str, rng: np.random.Generator) -> None:
    D = rng.random((30, 30)).astype("<" + kind)
    D = (D + D.T) / 2
    swapped = D.astype(">" + kind)
    for alpha in (-1.0, -math.inf):
        expected = linkage(D, alpha=alpha)
        np.testing.assert_array_equal(linkage(swapped, alpha=alpha), expected)
        np.testing.assert_array_equal(linkages([swapped], alpha=alpha)[0], expected)
