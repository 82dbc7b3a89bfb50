"""Payloads of trees, compared with slow counts over the leaves; thumbnails."""

from __future__ import annotations

import base64
from io import BytesIO

import numpy as np
import pytest
from matplotlib.image import imread
from scipy.cluster.hierarchy import linkage

from supclust.report import trees
from supclust.report.trees import Points, mixed_merges, purities, tree_payload


def leaves_under(Z: np.ndarray) -> list[list[int]]:
    n = len(Z) + 1
    members = [[i] for i in range(n)]
    for left, right in Z[:, :2].astype(int):
        members.append(members[left] + members[right])
    return members


def random_points(rng: np.random.Generator, n: int, k: int) -> tuple[Points, np.ndarray]:
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    Z = linkage(rng.normal(size=(n, 2)), "average")
    ids, clusters = [f"p{i}" for i in range(n)], [f"c{i}" for i in range(k)]
    return Points("block", ids, labels, clusters), Z


def test_purity_is_the_share_of_the_most_frequent_cluster(rng: np.random.Generator) -> None:
    points, Z = random_points(rng, 40, 4)
    members = leaves_under(Z)[40:]
    expected = [np.bincount(points.labels[m]).max() / len(m) for m in members]
    np.testing.assert_allclose(purities(Z, points.labels), expected)


def test_mixed_merges_are_counted_on_either_side_of_the_cut(rng: np.random.Generator) -> None:
    points, Z = random_points(rng, 30, 3)
    cut = float(np.median(Z[:, 2]))
    mixed = [len(set(points.labels[m])) > 1 for m in leaves_under(Z)[30:]]
    below = Z[:, 2] <= cut
    expected = (sum(mixed), sum(mixed & below), sum(~np.array(mixed) & ~below))
    assert mixed_merges(Z, points.labels, cut) == expected


@pytest.mark.parametrize("most", [1000, 12, 2])
def test_a_payload_scores_every_cut_that_it_shows(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(trees, "MOST_LEAVES", most)
    points, Z = random_points(rng, 40, 4)
    payload = tree_payload(points, Z, 1.0)
    n = len(payload["leaves"])
    assert n == min(most, 40) and len(payload["children"]) == n - 1
    assert sorted(p for leaf in payload["leaves"] for p in leaf) == list(range(40))
    members = [list(leaf) for leaf in payload["leaves"]]
    for left, right in payload["children"]:
        members.append(members[left] + members[right])
    assert [len(m) for m in members[n:]] == payload["size"]
    clusters = [set(m) for m in members[:n]]
    joined, same = payload["inside"]
    for k in range(n):
        together = [(a, b) for c in clusters for a in c for b in c if a < b]
        shared = sum(points.labels[a] == points.labels[b] for a, b in together)
        assert (joined, same) == (len(together), shared)
        if k < n - 1:
            merged = set(members[n + k])
            clusters = [c for c in clusters if not c <= merged] + [merged]
            joined, same = joined + payload["joined"][k], same + payload["same"][k]
    assert same == payload["true_pairs"]


def test_one_point_is_a_tree_without_merges() -> None:
    points = Points("one", ["p"], np.array([0]), ["c"])
    payload = tree_payload(points, np.zeros((0, 4)), None)
    assert payload["leaves"] == [[0]] and payload["children"] == []


def test_points_without_labels_are_drawn_without_clusters(rng: np.random.Generator) -> None:
    points, Z = random_points(rng, 10, 2)
    unknown = Points("block", points.ids, np.full(10, -1), ())
    assert tree_payload(unknown, Z, 1.0)["labelled"] is False


def test_thumbnails_hold_the_picture(rng: np.random.Generator) -> None:
    images = rng.integers(0, 256, (2, 17, 11), dtype=np.uint8)
    for uri, image in zip(trees.picture_uris(images), images, strict=True):
        assert uri.startswith("data:image/png;base64,")
        np.testing.assert_array_equal(np.rint(decoded(uri) * 255), image)


def test_many_pictures_are_reduced_to_means_of_pixels(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "PICTURE_BYTES", 3000)
    images = rng.integers(0, 256, (4, 40, 40), dtype=np.uint8)
    expected = images.reshape(4, 20, 2, 20, 2).mean(axis=(2, 4))
    for uri, mean in zip(trees.picture_uris(images), expected, strict=True):
        np.testing.assert_allclose(decoded(uri) * 255, mean, atol=0.51)


def decoded(uri: str) -> np.ndarray:
    return imread(BytesIO(base64.b64decode(uri.partition(",")[2])), format="png")
