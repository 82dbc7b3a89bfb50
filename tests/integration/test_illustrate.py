"""The paper's two illustrations: they show what they claim, and every panel is readable."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score

from supclust.report.illustrate import Boundary, Shapes, compute_mismatch, compute_shapes
from supclust.report.illustrate_figures import matched, mismatch_figure, shapes_figure

pytestmark = pytest.mark.timeout(600)  # hundreds of epochs, on a busy machine


@pytest.fixture(scope="module", params=[0, 2])  # part of the clusters is found, and none
def mismatch(request):
    return compute_mismatch(request.param)


@pytest.fixture(scope="module")
def generated() -> Shapes:
    return compute_shapes(None)


@pytest.fixture(scope="module")
def real(data_dir: Path) -> Shapes:
    if not (data_dir / "shapes2d").is_dir():
        pytest.skip("no shapes2d below SUPCLUST_DATA")
    return compute_shapes(data_dir)


def dissimilarities(points: np.ndarray, boundary: Boundary) -> np.ndarray:
    i, j = np.triu_indices(len(points), 1)
    return np.abs(points[i] - points[j]) @ np.asarray(boundary.weight) + boundary.offset


# -- mismatch ---------------------------------------------------------------------------------


def test_all_pairs_training_fails_under_single_linkage_and_mst_training_does_not(mismatch):
    assert mismatch.all_pairs.adjusted_rand < 0.5 and mismatch.all_pairs.f1 < 0.75
    assert mismatch.mst.adjusted_rand == 1.0 and mismatch.mst.f1 == 1.0


def test_no_cut_of_the_all_pairs_tree_does_well(mismatch):
    found = dissimilarities(mismatch.points, mismatch.all_pairs.learned)
    tree = linkage(found - found.min(), "single")  # SciPy takes no negative heights
    for k in range(1, len(mismatch.points) + 1):
        assert adjusted_rand_score(mismatch.labels, fcluster(tree, k, "maxclust")) < 0.75


def test_clusters_are_those_of_scipy_at_the_tuned_boundary(mismatch):
    for trained in (mismatch.all_pairs, mismatch.mst):
        found = dissimilarities(mismatch.points, trained.tuned)
        low = found.min()
        cut = fcluster(linkage(found - low, "single"), -low, "distance")
        assert adjusted_rand_score(trained.labels, cut) == 1.0
        assert trained.adjusted_rand == pytest.approx(
            adjusted_rand_score(mismatch.labels, trained.labels)
        )


def test_boundaries_are_as_the_paper_describes_them(mismatch):
    def errors(boundary: Boundary) -> tuple[float, float]:
        within, across = boundary.below(mismatch.within), boundary.below(mismatch.across)
        return float((~within).mean()), float(across.mean())

    learned, best = errors(mismatch.all_pairs.learned), errors(mismatch.mst.tuned)
    # All-pairs errs least over all pairs; MST training on no pair across, but on many within.
    assert sum(learned) < sum(best)
    assert best[1] == 0.0 and best[0] > 0.4
    assert errors(mismatch.all_pairs.tuned)[1] > 0.0


def test_pairs_are_all_pairs(mismatch):
    n = len(mismatch.points)
    assert len(mismatch.within) + len(mismatch.across) == n * (n - 1) // 2
    assert len(mismatch.across) == np.prod(np.bincount(mismatch.labels))


def test_boundaries_are_drawn_where_the_dissimilarity_equals_the_value(mismatch):
    axes = mismatch_figure(mismatch).axes[1]
    drawn = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    boundaries = (mismatch.all_pairs.learned, mismatch.all_pairs.tuned, mismatch.mst.tuned)
    for line, boundary in zip(drawn, boundaries, strict=True):
        for point in (line.get_xy1(), line.get_xy2()):
            assert np.dot(boundary.weight, point) == pytest.approx(-boundary.offset)


def test_panels_of_the_mismatch(mismatch):
    figure = mismatch_figure(mismatch)
    data, boundaries, failed, good = figure.axes
    assert len(data.collections) == 2 and len(good.collections) == 2
    assert len(failed.collections) == mismatch.all_pairs.labels.max() + 1
    assert f"adjusted Rand {mismatch.all_pairs.adjusted_rand:.2f}" in failed.get_title()
    assert "adjusted Rand 1.00" in good.get_title()
    legend = [text.get_text() for text in boundaries.get_legend().get_texts()]
    wrong = mismatch.all_pairs.learned.below(mismatch.across).sum()
    assert legend[:3] == [
        "pair across clusters",
        "pair within clusters",
        f"all-pairs: {wrong} across below",
    ]
    assert legend[4] == "MST training: 0 below"
    lines = [line for line in boundaries.get_lines() if not line.get_label().startswith("_")]
    assert len({line.get_linestyle() for line in lines}) == 3  # told apart without colour
    assert boundaries.get_xlabel() and boundaries.get_ylabel()


# -- shapes -----------------------------------------------------------------------------------


@pytest.mark.data
def test_scores_on_the_real_set_are_the_papers(real):
    found = {c.linkage: round(c.adjusted_rand, 2) for c in real.linkages}
    assert found == {"single": 0.0, "average": 0.44, "complete": 0.35, "exp": 0.99}
    at_minus_one = real.rand_curve[np.argmin(np.abs(real.alphas + 1.0))]
    assert round(float(at_minus_one), 2) == 0.99


@pytest.mark.data
def test_alpha_is_learned_to_about_minus_one_on_the_real_set(real):
    assert real.source == "real"
    assert abs(real.alpha_path[0]) < 0.3  # it starts near average linkage
    assert -1.05 < real.alpha < -0.85
    assert len(np.unique(real.alpha_path)) > 100


def test_alpha_is_learned_on_generated_points_too(generated):
    scores = {c.linkage: c.adjusted_rand for c in generated.linkages}
    assert generated.source == "generated" and generated.alpha < -0.2
    assert max(scores["single"], scores["average"], scores["complete"]) < 0.65 < 0.9 < scores["exp"]


def test_clusters_of_classical_linkages_are_those_of_scipy(generated):
    for clustered in generated.linkages[:3]:
        cut = fcluster(linkage(generated.points, clustered.linkage), 3, "maxclust")
        assert adjusted_rand_score(clustered.labels, cut) == 1.0
        expected = adjusted_rand_score(generated.labels, cut)
        assert clustered.adjusted_rand == pytest.approx(expected)


def test_the_curve_passes_through_average_linkage(generated):
    at_zero = int(np.flatnonzero(generated.alphas == 0.0)[0])
    assert generated.rand_curve[at_zero] == generated.linkages[1].adjusted_rand
    assert generated.purity_curve[at_zero] == generated.linkages[1].purity


def test_panels_of_the_shapes(generated):
    figure = shapes_figure(generated)
    truth, *panels = figure.axes[:5]
    assert "generated data" in truth.get_title() and len(truth.collections) == 3
    for axes, clustered in zip(panels, generated.linkages, strict=True):
        assert f"adjusted Rand {clustered.adjusted_rand:.2f}" in axes.get_title()
    assert "learned $\\alpha$" in panels[-1].get_title()
    scores, learning = figure.axes[5:]
    assert scores.get_legend() is not None and learning.get_ylabel() == "epoch"
    (path,) = [line for line in learning.get_lines() if len(line.get_xdata()) > 2]
    assert np.array_equal(path.get_xdata(), generated.alpha_path)


def test_found_clusters_take_the_numbers_of_true_ones():
    true, found = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([2, 2, 0, 0, 0, 1, 3])
    again = matched(true, found)
    assert again.tolist() == [0, 0, 1, 1, 1, 2, 3]
    assert matched(true, np.zeros(7, dtype=int)).tolist() == [0] * 7
