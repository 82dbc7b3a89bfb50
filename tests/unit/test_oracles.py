"""The oracles against examples worked by hand and against outside libraries.

Everything else is tested against the oracles, so nothing here may lean on `supclust` itself.
"""

from __future__ import annotations

import math
import time

import er_evaluation
import higra
import numpy as np
import pandas as pd
import pytest
import torch
from scipy.cluster import hierarchy
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import squareform
from sklearn.metrics.cluster import pair_confusion_matrix

import generators
from oracles import hac, losses, metrics

INF = math.inf
# er-evaluation still calls pandas in ways that pandas 3 announces it will drop.
OLD_PANDAS = pytest.mark.filterwarnings("ignore::DeprecationWarning:er_evaluation")
ALPHAS = [-INF, -50.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 50.0, INF]
SCIPY_METHOD = {-INF: "single", 0.0: "average", INF: "complete"}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20190613)


def upper(n: int, **entries: float) -> np.ndarray:
    """Symmetric matrix from entries such as d01=3.0."""
    D = np.zeros((n, n))
    for name, entry in entries.items():
        i, j = int(name[1]), int(name[2])
        D[i, j] = D[j, i] = entry
    return D


def tensor(D: np.ndarray) -> torch.Tensor:
    return torch.tensor(D, dtype=torch.float64)


# -- linkage -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "alpha", "expected"),
    [
        ([1.0, 2.0, 6.0], -INF, 1.0),
        ([1.0, 2.0, 6.0], 0.0, 3.0),
        ([1.0, 2.0, 6.0], INF, 6.0),
        ([0.0, 1.0], math.log(3.0), 0.75),  # weights 1 and 3
        ([0.0, 1.0], -math.log(3.0), 0.25),
        ([3000.0, 3001.0], math.log(3.0), 3000.75),  # exp(3000) is no float
        ([-3001.0, -3000.0], -math.log(3.0), -3000.75),
        ([1e6, 2e6], 50.0, 2e6),
        ([4.0, INF], -1.0, 4.0),
        ([4.0, INF], -INF, 4.0),
        ([4.0, INF], 0.0, INF),
        ([4.0, INF], 1.0, INF),
        ([4.0, INF], INF, INF),
        ([INF, INF], -1.0, INF),
        ([INF, INF], -INF, INF),
    ],
)
def test_explink_by_hand(values: list[float], alpha: float, expected: float) -> None:
    assert hac.explink(np.array(values), alpha) == pytest.approx(expected, rel=1e-14)
    in_torch = hac.explink_torch(tensor(np.array(values)), alpha)
    assert in_torch.item() == pytest.approx(expected, rel=1e-14)


def test_explink_matches_the_unshifted_formula(rng: np.random.Generator) -> None:
    f = rng.normal(size=12)
    for alpha in (-3.0, -0.5, 0.0, 0.5, 3.0):
        naive = (np.exp(alpha * f) * f).sum() / np.exp(alpha * f).sum()
        assert hac.explink(f, alpha) == pytest.approx(naive, rel=1e-12)


def test_explink_gradients_match_their_closed_form(rng: np.random.Generator) -> None:
    f = tensor(rng.normal(size=7)).requires_grad_(True)
    for a in (-2.0, 0.0, 0.7):
        alpha = torch.tensor(a, dtype=torch.float64, requires_grad=True)
        psi = hac.explink_torch(f, alpha)
        grad_f, grad_alpha = torch.autograd.grad(psi, [f, alpha])
        values, mean = f.detach().numpy(), psi.item()
        weight = np.exp(a * values) / np.exp(a * values).sum()
        np.testing.assert_allclose(grad_f, weight * (1 + a * (values - mean)), atol=1e-12)
        variance = (weight * values**2).sum() - mean**2
        assert grad_alpha.item() == pytest.approx(variance, abs=1e-12)


# -- trees -------------------------------------------------------------------------------------


def test_greedy_tree_by_hand() -> None:
    D = upper(4, d01=1.0, d02=4.0, d12=6.0, d03=8.0, d13=10.0, d23=3.0)
    for alpha, top in ((-INF, 4.0), (0.0, 7.0), (INF, 10.0)):
        expected = [[0, 1, 1, 2], [2, 3, 3, 2], [4, 5, top, 4]]
        np.testing.assert_allclose(hac.greedy_tree(D, alpha), expected)


def test_greedy_tree_breaks_ties_by_lowest_leaf() -> None:
    expected = [[0, 1, 0.7, 2], [2, 4, 0.7, 3], [3, 5, 0.7, 4]]
    D = generators.symmetric(np.full((4, 4), 0.7))
    for alpha in ALPHAS:
        np.testing.assert_array_equal(hac.greedy_tree(D, alpha), expected)


@pytest.mark.parametrize("family", generators.FAMILIES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_replay_accepts_greedy_trees(family: str, alpha: float, rng: np.random.Generator) -> None:
    for n in (1, 2, 9):
        D, _ = generators.FAMILIES[family](n, rng)
        hac.replay(D, hac.greedy_tree(D, alpha), alpha)


@pytest.mark.parametrize("family", sorted(set(generators.FAMILIES) - generators.INFINITE))
@pytest.mark.parametrize("alpha", SCIPY_METHOD)
def test_replay_accepts_scipy(family: str, alpha: float, rng: np.random.Generator) -> None:
    D, _ = generators.FAMILIES[family](20, rng)
    Z = hierarchy.linkage(squareform(D), method=SCIPY_METHOD[alpha])
    Z[:, 2] = np.maximum.accumulate(Z[:, 2])  # SciPy's averages may fall by a rounding error
    hac.replay(D, Z, alpha)


@pytest.mark.parametrize("alpha", SCIPY_METHOD)
def test_greedy_tree_equals_scipy_without_ties(alpha: float, rng: np.random.Generator) -> None:
    D, _ = generators.random(14, rng)
    Z = hierarchy.linkage(squareform(D), method=SCIPY_METHOD[alpha])
    np.testing.assert_allclose(hac.greedy_tree(D, alpha), Z, rtol=1e-12)


def higra_tree(D: np.ndarray, alpha: float) -> tuple[higra.Tree, np.ndarray]:
    """Higra's ExpLink tree of the complete graph, itself and as Z."""
    n = len(D)
    graph = higra.UndirectedGraph(n)
    i, j = np.triu_indices(n, 1)
    graph.add_edges(i, j)
    tree, altitudes = higra.binary_partition_tree_exponential_linkage(graph, D[i, j], alpha)
    size = higra.attribute_area(tree)
    rows = [
        [*sorted(int(child) for child in tree.children(node)), altitudes[node], size[node]]
        for node in range(n, 2 * n - 1)
    ]
    return tree, np.array(rows)


@pytest.mark.parametrize("alpha", [-5.0, -1.0, -1e-3, 0.0, 1.0, 5.0])
def test_greedy_tree_equals_higra(alpha: float, rng: np.random.Generator) -> None:
    for family in ("random", "negative"):
        D, _ = generators.FAMILIES[family](13, rng)
        _, Z = higra_tree(D, alpha)
        np.testing.assert_allclose(hac.greedy_tree(D, alpha), Z, rtol=1e-9)


def corrupt(Z: np.ndarray, kind: str) -> np.ndarray:
    """Z of the points 0, 1, 10, 11.5, 30 on a line under average linkage, damaged."""
    Z = Z.copy()
    if kind == "shape":
        return Z[:-1]
    if kind == "swapped children":
        Z[0, :2] = Z[0, [1, 0]]
    elif kind == "same child twice":
        Z[0, 1] = Z[0, 0]
    elif kind == "child used before":
        Z[1, 0] = 0
    elif kind == "child unborn":
        Z[0, 1] = 8
    elif kind == "infinite child":
        Z[0, 1] = INF
    elif kind == "fractional child":
        Z[0, 1] = 1.5
    elif kind == "size":
        Z[2, 3] = 3
    elif kind == "height":
        Z[2, 2] *= 1 + 1e-6
    elif kind == "nan height":
        Z[2, 2] = math.nan
    elif kind == "infinite height":
        Z[3, 2] = INF
    elif kind == "falling heights":
        Z[[0, 1]] = Z[[1, 0]]
        Z[2, :2] = 5, 6
    elif kind == "not the closest":  # every height right and rising, but 10 joins {0, 1} first
        Z[1] = 2, 5, 9.5, 3
        Z[2] = 3, 6, (11.5 + 10.5 + 1.5) / 3, 4
        Z[2, 2] = max(Z[2, 2], 9.5)
    return Z


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("shape", r"shape \(4, 4\)"),
        ("swapped children", "smaller id first"),
        ("same child twice", "smaller id first"),
        ("child used before", "merge 1: child 0 is unborn, merged before"),
        ("child unborn", "merge 0: child 8 is unborn"),
        ("fractional child", "not integers"),
        ("infinite child", "infinite child id"),
        ("size", "merge 2: size 3, but its children hold 4"),
        ("height", "merge 2 of 5 and 6: height .* their linkage is"),
        ("nan height", "NaN"),
        ("infinite height", "merge 3 of 4 and 7: height"),
        ("falling heights", "merge 1: height 1 is below"),
        ("not the closest", "merge 1 of 2 and 5 .* 2 and 3 are closer: 1.5"),
    ],
)
def test_replay_rejects(kind: str, message: str) -> None:
    D = generators.euclidean(np.array([[0.0], [1.0], [10.0], [11.5], [30.0]]))
    Z = hac.greedy_tree(D, 0.0)
    hac.replay(D, Z, 0.0)
    with pytest.raises(AssertionError, match=message):
        hac.replay(D, corrupt(Z, kind), 0.0)


def test_replay_rejects_the_tree_of_another_alpha(rng: np.random.Generator) -> None:
    D, _ = generators.random(12, rng)
    for alpha, other in ((-1.0, -1.01), (0.0, 1e-3), (INF, 50.0)):
        with pytest.raises(AssertionError, match="linkage"):
            hac.replay(D, hac.greedy_tree(D, other), alpha)


def test_replay_tolerance_follows_the_scale() -> None:
    for scale in (1e-6, 1.0, 1e6):
        D = scale * upper(3, d01=1.0, d02=4.0, d12=6.0)
        Z = hac.greedy_tree(D, 0.0)
        Z[1, 2] += 1e-8 * scale
        with pytest.raises(AssertionError, match="linkage"):
            hac.replay(D, Z, 0.0)
        hac.replay(D, Z, 0.0, rtol=1e-7)


def test_replay_is_quick_at_sixty_points(rng: np.random.Generator) -> None:
    D, _ = generators.random(60, rng)
    Z = hierarchy.linkage(squareform(D), method="average")
    start = time.process_time()
    hac.replay(D, Z, 0.0)
    assert time.process_time() - start < 1.0


@pytest.mark.parametrize("alpha", [-INF, -1.0, 0.0, 2.0, INF])
def test_heights_of(alpha: float, rng: np.random.Generator) -> None:
    D, _ = generators.random(6, rng)
    Z = hac.greedy_tree(D, alpha)
    f = tensor(D).requires_grad_(True)
    heights = hac.heights_of(f, Z, alpha)
    np.testing.assert_allclose(heights.detach(), Z[:, 2], rtol=1e-12)
    assert torch.autograd.gradcheck(lambda x: hac.heights_of(x, Z, alpha), (f,))
    (gradient,) = torch.autograd.grad(heights.sum(), f)
    assert torch.equal(gradient, gradient.triu(1))
    assert gradient.sum().item() == pytest.approx(5.0)  # adding c to every f adds c to each height


# -- metrics -----------------------------------------------------------------------------------


def test_dendrogram_purity_by_hand() -> None:
    Z = np.array([[0, 1, 1, 2], [2, 4, 2, 3], [3, 5, 3, 4]], dtype=float)
    # pairs (0,1): {0,1} pure; (0,3), (1,3): root holds 3 of 4
    assert metrics.dendrogram_purity(Z, [0, 0, 1, 0]) == pytest.approx((1 + 0.75 + 0.75) / 3)
    assert metrics.dendrogram_purity(Z, [0, 0, 0, 0]) == 1.0
    assert math.isnan(metrics.dendrogram_purity(Z, [0, 1, 2, 3]))
    assert math.isnan(metrics.dendrogram_purity(np.zeros((0, 4)), [0]))


def test_dendrogram_purity_against_higra(rng: np.random.Generator) -> None:
    for family in ("random", "negative", "separated"):
        D, labels = generators.FAMILIES[family](15, rng)
        tree, Z = higra_tree(D, -0.5)
        ours = metrics.dendrogram_purity(Z, labels)
        assert ours == pytest.approx(higra.dendrogram_purity(tree, labels))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_separated_blobs_have_purity_one(alpha: float, rng: np.random.Generator) -> None:
    D, labels = generators.separated(12, rng)
    assert len(set(labels)) > 1
    assert metrics.dendrogram_purity(hac.greedy_tree(D, alpha), labels) == 1.0


@pytest.mark.parametrize(
    ("true", "pred", "expected"),
    [
        ([0, 0, 1, 1], [0, 0, 0, 1], (1 / 3, 1 / 2, 2 / 5)),
        ([0, 0, 1, 1], [0, 1, 2, 3], (1.0, 0.0, 0.0)),  # nothing predicted
        ([0, 1, 2], [0, 0, 0], (0.0, 1.0, 0.0)),  # nothing true
        ([0, 1], [0, 1], (1.0, 1.0, 1.0)),  # neither
        ([0, 0, 1, 1], [0, 1, 0, 1], (0.0, 0.0, 0.0)),
        ([0], [0], (1.0, 1.0, 1.0)),
    ],
)
def test_pairwise_scores_by_hand(
    true: list[int], pred: list[int], expected: tuple[float, float, float]
) -> None:
    assert metrics.pairwise_scores(true, pred) == pytest.approx(expected)


@OLD_PANDAS
def test_pairwise_scores_against_outside(rng: np.random.Generator) -> None:
    for _ in range(5):
        true, pred = rng.integers(0, 4, size=(2, 17))
        (_, false_positive), (false_negative, both) = pair_confusion_matrix(true, pred) // 2
        counts = (both, both + false_positive, both + false_negative)
        assert metrics.pair_counts(true, pred) == counts
        scores = metrics.pairwise_scores(true, pred)
        p, t = pd.Series(pred), pd.Series(true)
        assert scores.precision == pytest.approx(er_evaluation.pairwise_precision(p, t))
        assert scores.recall == pytest.approx(er_evaluation.pairwise_recall(p, t))
        assert scores.f1 == pytest.approx(er_evaluation.pairwise_f(p, t))


def test_b_cubed_by_hand() -> None:
    # precision 2/3, 2/3, 1/3, 1; recall 1, 1, 1/2, 1/2
    p, r = 8 / 12, 3 / 4
    expected = (p, r, 2 * p * r / (p + r))
    assert metrics.b_cubed([0, 0, 1, 1], [0, 0, 0, 1]) == pytest.approx(expected)


@OLD_PANDAS
def test_b_cubed_against_er_evaluation(rng: np.random.Generator) -> None:
    for _ in range(5):
        true, pred = rng.integers(0, 4, size=(2, 17))
        p, t = pd.Series(pred), pd.Series(true)
        scores = metrics.b_cubed(true, pred, average="clusters")
        assert scores.precision == pytest.approx(er_evaluation.b_cubed_precision(p, t))
        assert scores.recall == pytest.approx(er_evaluation.b_cubed_recall(p, t))
        assert scores.f1 == pytest.approx(er_evaluation.b_cubed_f(p, t))


def test_cut_by_hand_and_against_scipy(rng: np.random.Generator) -> None:
    Z = np.array([[1, 3, 1, 2], [0, 2, 2, 2], [4, 5, 3, 4]], dtype=float)
    assert metrics.cut(Z, 0.9).tolist() == [0, 1, 2, 3]
    assert metrics.cut(Z, 1.0).tolist() == [0, 1, 2, 1]  # inclusive
    assert metrics.cut(Z, 2.0).tolist() == [0, 1, 0, 1]
    assert metrics.cut(Z, INF).tolist() == [0, 0, 0, 0]
    D, _ = generators.integer_grid(15, rng)
    Z = hac.greedy_tree(D, INF)
    for height in np.unique(Z[:, 2]):
        theirs = hierarchy.fcluster(Z, height, criterion="distance")
        ours = metrics.cut(Z, height)
        assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == len(set(theirs))


def test_best_threshold_by_hand() -> None:
    first = (np.array([[0, 1, 1, 2], [2, 3, 5, 3]], dtype=float), [0, 0, 1])
    second = (np.array([[0, 1, 3, 2]], dtype=float), [4, 4])
    # up to 1: nothing; 1: 1 of 2 pairs; 3: both, exactly; 5: two wrong ones
    best = metrics.best_threshold([first, second])
    assert best == (1.0, [(3.0, 5.0)])
    assert metrics.pooled_scores([first, second], 2.9).f1 == pytest.approx(2 / 3)
    assert metrics.pooled_scores([first, second], 5.0) == pytest.approx((1 / 2, 1.0, 2 / 3))


def test_best_threshold_at_the_ends() -> None:
    Z = np.array([[0, 1, 1, 2], [2, 3, 5, 3]], dtype=float)
    assert metrics.best_threshold([(Z, [0, 1, 2])]) == (1.0, [(-INF, 1.0)])
    assert metrics.best_threshold([(Z, [0, 0, 0])]) == (1.0, [(5.0, INF)])
    assert metrics.best_threshold([(np.zeros((0, 4)), [0])]) == (1.0, [(-INF, INF)])


def test_best_threshold_beats_any_other(rng: np.random.Generator) -> None:
    problems = [generators.random(n, rng) for n in (6, 9, 1)]
    blocks = [(hac.greedy_tree(D, 0.0), labels) for D, labels in problems]
    best = metrics.best_threshold(blocks)
    for threshold in rng.uniform(0, 5, size=50):
        assert metrics.pooled_scores(blocks, threshold).f1 <= best.f1


# -- ExpLink loss ------------------------------------------------------------------------------

FOUR = upper(4, d01=1.0, d02=4.0, d12=6.0, d03=2.0, d13=5.0, d23=3.0)
FOUR_LABELS = [0, 0, 0, 1]
# Round 1 merges 0, 1 at height 1, below every impure pair. Round 2 merges {0, 1}, 2 at 4 / 5 / 6
# (single / average / complete) against {0, 1}-3 at 2 / 3.5 / 5 and 2-3 at 3.
FIVE = upper(
    5, d01=2.0, d23=6.0, d02=5.0, d03=5.0, d12=5.0, d13=1.0, d24=0.5, d04=9.0, d14=9.0, d34=9.0
)
FIVE_LABELS = [7, 7, 3, 3, 5]
# Complete linkage. Round 1, height 2: 1-3 at 1, and 2-4 at 0.5, which is not adjacent.
# Round 2, height 6: {0, 1}-2 and {0, 1}-3 at 5, 2-4 at 0.5.


@pytest.mark.parametrize(
    ("alpha", "options", "expected"),
    [
        (-INF, {}, 2.0 + 1.0),
        (0.0, {}, 1.5 + 2.0),
        (INF, {}, 1.0 + 3.0),
        (0.0, {"reduction": "mean"}, 1.75),
        (0.0, {"threshold": 4.0, "margin": 0.5}, 1.5 + 1.0 + 1.5),
        (0.0, {"threshold": 4.0, "margin": 0.5, "reduction": "mean"}, 1.5 + 1.25),
        (0.0, {"threshold": 2.9, "margin": 0.5}, 2.6 + 0.4),
        (0.0, {"threshold": 0.4, "margin": 0.0}, 0.6 + 4.6),  # both rounds, no impure
        (0.0, {"threshold": 0.4, "margin": 0.0, "reduction": "mean"}, 2.6),
        (0.0, {"threshold": 9.0, "margin": 1.0}, 6.5 + 7.0),  # no pure
    ],
)
def test_explink_loss_by_hand(alpha: float, options: dict, expected: float) -> None:
    variant = "threshold" if "threshold" in options else "ranking"
    loss = losses.explink_loss(tensor(FOUR), FOUR_LABELS, alpha, variant=variant, **options)
    assert loss.item() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("competitors", "options", "expected"),
    [
        ("all", {}, (1.0 + 1.5) + (1.0 + 1.0 + 5.5)),
        ("adjacent", {}, 1.0 + (1.0 + 1.0 + 5.5)),
        ("adjacent", {"reduction": "mean"}, 8.5 / 4),
        ("all", {"threshold": 4.0, "margin": 2.0}, 4.0 + (5.0 + 5.5) + (1.0 + 1.0 + 5.5)),
        ("adjacent", {"threshold": 4.0, "margin": 2.0}, 4.0 + 5.0 + (1.0 + 1.0 + 5.5)),
        ("adjacent", {"threshold": 4.0, "margin": 2.0, "reduction": "mean"}, 4.0 + 12.5 / 4),
    ],
)
def test_explink_loss_competitors_by_hand(competitors: str, options: dict, expected: float) -> None:
    variant = "threshold" if "threshold" in options else "ranking"
    loss = losses.explink_loss(
        tensor(FIVE), FIVE_LABELS, INF, variant=variant, competitors=competitors, **options
    )
    assert loss.item() == pytest.approx(expected)


def test_explink_gradient_by_hand() -> None:
    value, in_pairs, in_alpha = losses.value_and_gradients(
        losses.explink_loss, FOUR, FOUR_LABELS, alpha=0.0
    )
    assert value == pytest.approx(3.5)
    # twice the height (d02 + d12) / 2, minus (d03 + d13) / 2, minus d23
    expected = np.zeros((4, 4))
    expected[0, 2] = expected[1, 2] = 1.0
    expected[0, 3] = expected[1, 3] = -0.5
    expected[2, 3] = -1.0
    np.testing.assert_allclose(in_pairs, expected, atol=1e-14)
    assert in_alpha == pytest.approx(2 * 1.0 - 2.25)  # twice var(4, 6), minus var(2, 5)


def test_pair_gradient_does_not_care_how_it_was_shared(rng: np.random.Generator) -> None:
    one_sided = np.triu(rng.normal(size=(5, 5)), 1)
    np.testing.assert_allclose(losses.pair_gradient(one_sided), one_sided)
    np.testing.assert_allclose(losses.pair_gradient((one_sided + one_sided.T) / 2), one_sided)
    np.testing.assert_allclose(losses.pair_gradient(one_sided.T), one_sided)


@pytest.mark.parametrize("alpha", [-INF, -1.0, 0.0, 0.7, INF])
@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("variant", ["ranking", "threshold"])
def test_explink_loss_gradcheck(
    alpha: float, reduction: str, variant: str, rng: np.random.Generator
) -> None:
    D, labels = generators.random(6, rng)
    options = {"variant": variant, "threshold": 2.0, "margin": 0.3, "reduction": reduction}
    gaps = losses.decision_gaps(tensor(D), labels, alpha, 2.0, 0.3)
    assert min(gaps) > 1e-4  # a step of 1e-6 changes no decision
    f = tensor(D).requires_grad_(True)
    a = torch.tensor(alpha, dtype=torch.float64, requires_grad=math.isfinite(alpha))
    assert losses.explink_loss(f, labels, alpha, **options).item() > 0
    assert torch.autograd.gradcheck(
        lambda x, y: losses.explink_loss(x, labels, y, **options), (f, a)
    )


@pytest.mark.parametrize("alpha", [-INF, -2.0, 0.0, 2.0, INF])
def test_training_heights_never_fall(alpha: float, rng: np.random.Generator) -> None:
    D, labels = generators.negative(12, rng)
    rounds = list(losses.training_rounds(tensor(D), labels, alpha))
    assert len(rounds) == 12 - len(set(labels))
    assert np.all(np.diff([r.height.item() for r in rounds]) > -1e-12)


@pytest.mark.parametrize("labels", [[0], [0, 0, 0], [0, 1, 2], [0, 1], []])
@pytest.mark.parametrize("alpha", [-INF, -1.0, 0.0, INF])
def test_explink_loss_of_degenerate_blocks(labels: list[int], alpha: float) -> None:
    D = np.full((len(labels), len(labels)), 2.0)
    value, in_pairs, in_alpha = losses.value_and_gradients(
        losses.explink_loss, D, labels, alpha=alpha
    )
    assert (value, in_alpha) == (0.0, 0.0)
    assert not in_pairs.any()


@pytest.mark.parametrize("alpha", [-INF, -1.0, 0.0, 1.0, INF])
def test_zero_ranking_loss_means_purity_one(alpha: float, rng: np.random.Generator) -> None:
    """Fact 1 of the appendix, where both sides of it occur."""
    seen = set()
    for family in ("separated", "negative", "random"):
        for n in (4, 6, 8):
            D, labels = generators.FAMILIES[family](n, rng)
            zero = losses.explink_loss(tensor(D), labels, alpha).item() == 0.0
            purity = metrics.dendrogram_purity(hac.greedy_tree(D, alpha), labels)
            assert not zero or math.isnan(purity) or purity == 1.0
            seen.add(zero)
    assert seen == {True, False}


def test_tie_breaking_can_change_the_loss() -> None:
    # On the line 0, 1, 2 either neighbour may go first; point 3 is nearer to 2.
    D = upper(4, d01=1.0, d12=1.0, d02=2.0, d03=5.0, d13=1.2, d23=0.5)
    labels = [0, 0, 0, 1]
    assert losses.decision_gaps(tensor(D), labels, 0.0).merge == 0.0
    # 0.5 in round 1; then at height 1.5: {0,1}-3 at 3.1 and 2-3 at 0.5, or 0-3 and {1,2}-3 at 0.85
    assert losses.tie_broken_losses(tensor(D), labels, 0.0) == pytest.approx([1.15, 1.5])
    assert losses.explink_loss(tensor(D), labels, 0.0).item() == pytest.approx(1.5)
    assert len(list(losses.tie_broken_merges(tensor(FOUR), FOUR_LABELS, 0.0))) == 1


def test_infinite_across_pairs_are_harmless() -> None:
    D = FOUR.copy()
    D[0, 3] = D[3, 0] = INF
    for alpha, expected in ((-INF, 1.0), (0.0, 2.0), (INF, 3.0)):
        value, in_pairs, _ = losses.value_and_gradients(
            losses.explink_loss, D, FOUR_LABELS, alpha=alpha
        )
        assert value == pytest.approx(expected)
        assert np.isfinite(in_pairs).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "hinge"}, "variant must be one of"),
        ({"competitors": "none"}, "competitors must be one of"),
        ({"reduction": "median"}, "reduction must be one of"),
        ({"variant": "threshold", "threshold": 1.0}, "needs threshold and margin"),
    ],
)
def test_explink_loss_refuses(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        losses.explink_loss(tensor(FOUR), FOUR_LABELS, 0.0, **options)


# -- pair losses -------------------------------------------------------------------------------

HINGE = {"threshold": 3.0, "margin": 0.5}  # within counts above 2.5, across below 3.5


@pytest.mark.parametrize(
    ("loss", "options", "expected"),
    [
        # FOUR: within 1, 4, 6; across 2, 5, 3
        (losses.all_pairs_loss, {}, 11.0 - 10.0),
        (losses.all_pairs_loss, {"reduction": "mean"}, 11.0 / 3 - 10.0 / 3),
        (losses.all_pairs_loss, HINGE, (1.5 + 3.5) + (1.5 + 0.5)),
        (losses.all_pairs_loss, {**HINGE, "reduction": "mean"}, 2.5 + 1.0),
        # nearest within 1, 1, 4 (none for 3); nearest across 2, 5, 3, and 2 from point 3
        (losses.best_loss, {}, 6.0 - 12.0),
        (losses.best_loss, {"reduction": "mean"}, 2.0 - 3.0),
        (losses.best_loss, HINGE, 1.5 + (1.5 + 0.5 + 1.5)),
        (losses.best_loss, {**HINGE, "reduction": "mean"}, 1.5 + 3.5 / 3),
        # tree edges 1, 4
        (losses.mst_loss, {}, 5.0 - 12.0),
        (losses.mst_loss, {"reduction": "mean"}, 2.5 - 3.0),
        (losses.mst_loss, HINGE, 1.5 + (1.5 + 0.5 + 1.5)),
    ],
)
def test_pair_losses_by_hand(loss: object, options: dict, expected: float) -> None:
    assert loss(tensor(FOUR), FOUR_LABELS, **options).item() == pytest.approx(expected)


def test_triplet_loss_by_hand() -> None:
    triplets = [(0, 2, 3), (1, 0, 3), (2, 0, 3), (2, 0, 3)]  # 4 - 2, 1 - 5, 4 - 3 twice
    D = tensor(FOUR)
    assert losses.triplet_loss(D, triplets).item() == pytest.approx(4.0)
    assert losses.triplet_loss(D, triplets, reduction="mean").item() == pytest.approx(4.0 / 3)
    assert losses.triplet_loss(D, triplets, **HINGE).item() == pytest.approx(3 * 1.5 + 2.5)
    assert losses.triplet_loss(D, [], **HINGE).item() == 0.0


def test_pair_loss_gradient_is_one_sided_and_counts_repeats() -> None:
    _, gradient, _ = losses.value_and_gradients(losses.best_loss, FOUR, FOUR_LABELS)
    expected = np.zeros((4, 4))
    expected[0, 1], expected[0, 2], expected[0, 3] = 2.0, 1.0, -2.0
    expected[1, 3] = expected[2, 3] = -1.0
    np.testing.assert_array_equal(gradient, expected)


def test_kruskal_against_scipy(rng: np.random.Generator) -> None:
    D, _ = generators.random(11, rng)
    ours = sorted(losses.kruskal(tensor(D), range(11)))
    tree = minimum_spanning_tree(D).tocoo()
    theirs = sorted((min(i, j), max(i, j)) for i, j in zip(tree.row, tree.col, strict=True))
    assert ours == theirs


def test_pair_losses_refuse_half_a_hinge() -> None:
    with pytest.raises(ValueError, match="come together"):
        losses.all_pairs_loss(tensor(FOUR), FOUR_LABELS, threshold=1.0)


# -- generators --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", generators.FAMILIES)
@pytest.mark.parametrize("n", [1, 2, 3, 17])
def test_families_keep_their_promises(name: str, n: int, rng: np.random.Generator) -> None:
    D, labels = generators.FAMILIES[name](n, rng)
    assert D.shape == (n, n) and D.dtype == np.float64
    assert labels.shape == (n,) and labels.dtype == np.int64
    assert not np.isnan(D).any()
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diag(D), 0.0)
    off_diagonal = D[np.triu_indices(n, 1)]
    if n == 17:
        assert np.isinf(off_diagonal).any() == (name in generators.INFINITE)
        repeats = len(np.unique(off_diagonal)) < len(off_diagonal)
        assert repeats == (name in generators.TIED | generators.INFINITE)
        middle = np.median(off_diagonal)
        around = {"tiny_values": 1e-6, "huge_values": 1e6, "faces_like": 3000.0}.get(name)
        assert around is None or around / 3 < middle < around * 3
        assert (off_diagonal < 0).any() == (name == "negative")
