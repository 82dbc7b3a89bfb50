from __future__ import annotations

import subprocess
import sys

import pytest

from supclust import metrics


def test_every_public_name_has_a_home() -> None:
    for name in metrics.__all__:
        assert getattr(metrics, name).__name__ == name
    assert set(metrics.__all__) <= set(dir(metrics))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'purity_of_tea'"):
        _ = metrics.purity_of_tea


def test_the_functions_import_neither_torch_nor_scikit_learn() -> None:
    code = """
import sys
from supclust.metrics import (
    adjusted_rand, bcubed_scores, best_threshold, dendrogram_purity, pairwise_scores
)
Z = [[0, 1, 1.0, 2]]
dendrogram_purity(Z, [0, 0]), best_threshold([(Z, [0, 0])])
pairwise_scores([0, 0], [0, 1]), bcubed_scores([0, 0], [0, 1]), adjusted_rand([0, 0], [0, 1])
sys.exit(", ".join({"torch", "sklearn"} & set(sys.modules)) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
