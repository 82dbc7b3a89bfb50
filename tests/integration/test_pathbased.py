"""The figures that the README opens with, measured on the real pathbased set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import supclust
from supclust.hac import cut_tree
from supclust.metrics import adjusted_rand

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.data
def test_alpha_minus_one_finds_the_clusters_that_the_classical_linkages_miss(
    data_dir: Path,
) -> None:
    points = np.loadtxt(data_dir / "shapes2d" / "pathbased.data.gz")
    labels = np.loadtxt(data_dir / "shapes2d" / "pathbased.labels0.gz")
    found = {}
    for name, method, alpha in [
        ("alpha = -1", "exp", -1.0),
        ("single", "single", None),
        ("average", "average", None),
        ("complete", "complete", None),
    ]:
        Z = supclust.linkage(pdist(points), method, alpha=alpha)
        found[name] = f"{adjusted_rand(labels, cut_tree(Z, n_clusters=3)):.2f}"
    text = " ".join(README.read_text().split())
    assert f"alpha = -1 finds the clusters (adjusted Rand {found['alpha = -1']})" in text, found
    classical = ", ".join(f"{name} ({found[name]})" for name in ("single", "average"))
    assert f"{classical} and complete ({found['complete']}) fail" in text, found
