from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA

from supclust.data import DataError, split_dataset
from supclust.data.sets.faces import (
    UMIST_FILE,
    halve,
    principal_components,
    read_umist,
    synthetic_faces,
)
from supclust.data.sets.synthetic_faces import POSES, render_faces


@pytest.fixture(scope="module")
def stand_in():
    return synthetic_faces()


def test_components_are_those_of_scikit_learn_up_to_sign(rng):
    points = rng.normal(size=(40, 90)) @ rng.normal(size=(90, 90)) + 5.0
    mine = principal_components(points, 6)
    theirs = PCA(6, svd_solver="full").fit_transform(points)
    signs = np.sign((mine * theirs).sum(axis=0))
    np.testing.assert_allclose(mine, theirs * signs, atol=1e-9 * np.abs(theirs).max())


def test_sign_of_components_is_fixed(rng):
    points = rng.normal(size=(20, 7))
    scores = principal_components(points, 3)
    centred = points - points.mean(axis=0)
    loadings = np.linalg.lstsq(scores, centred, rcond=None)[0]
    assert (loadings[np.arange(3), np.abs(loadings).argmax(axis=1)] > 0).all()
    order = rng.permutation(20)
    np.testing.assert_allclose(principal_components(points[order], 3), scores[order], atol=1e-12)


def test_too_many_components_are_refused():
    with pytest.raises(DataError, match=r"dimensions must be in 1..3"):
        principal_components(np.eye(3), 4)


def test_halving_averages_squares():
    image = np.array([[[0, 4, 1, 1], [8, 0, 1, 2]]], dtype=np.uint8)
    assert halve(image).tolist() == [[[3.0, 1.25]]]


def save_umist(folder, **changes):
    rng = np.random.default_rng(0)
    arrays = {
        "images": rng.integers(0, 256, (6, 4, 6)).astype(np.uint8),
        "person": np.array(["1a", "1a", "1a", "1b", "1b", "1b"]),
        "filename": np.array([f"{i}.pgm" for i in range(6)]),
        "duplicate_of": np.array([-1, -1, 0, -1, -1, -1], np.int32),
        **changes,
    }
    np.savez(folder / UMIST_FILE, **{k: v for k, v in arrays.items() if v is not None})
    return arrays


def test_umist_layout_drops_duplicates_and_keeps_pictures(tmp_path):
    arrays = save_umist(tmp_path)
    data = read_umist(tmp_path, dimensions=2)
    block = data.blocks[0]
    assert block.ids == ("1a/0.pgm", "1a/1.pgm", "1b/3.pgm", "1b/4.pgm", "1b/5.pgm")
    assert block.cluster_names == ("1a", "1b") and block.images.shape == (5, 2, 3)
    assert data.notes == ("1 pixel-identical copies left out",) and data.unit == "cluster"
    small = halve(arrays["images"][[0, 1, 3, 4, 5]]).reshape(5, -1)
    np.testing.assert_allclose(block.features, principal_components(small, 2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"person": None}, r"\['person'\] not found"),
        ({"images": np.zeros((6, 3, 4), np.uint8)}, "even height and width"),
        ({"images": np.zeros((6, 4, 4))}, "uint8"),
        ({"filename": np.array(["x"])}, r"`filename` must have one entry per image"),
    ],
)
def test_mistakes_in_the_umist_file(tmp_path, changes, message):
    save_umist(tmp_path, **changes)
    with pytest.raises(DataError, match=message):
        read_umist(tmp_path, dimensions=2)


def test_a_damaged_umist_file(tmp_path):
    (tmp_path / UMIST_FILE).write_bytes(b"PK\x03\x04nonsense")
    with pytest.raises(DataError, match=r"cannot be read as a NumPy \.npz file"):
        read_umist(tmp_path)


@pytest.mark.data
def test_real_umist(data_dir):
    if not (data_dir / "umist_faces").is_dir():
        pytest.skip("no umist_faces below SUPCLUST_DATA")
    data = read_umist(data_dir / "umist_faces")
    assert (data.n, data.n_clusters, data.d) == (565, 20, 20) and data.sizes == (7, 6, 7)
    assert data.blocks[0].images.shape == (565, 56, 46)
    assert np.bincount(data.blocks[0].labels).tolist() == list(POSES)
    for number in range(50):
        assert [part[0].n_clusters for part in split_dataset(data, number)] == [7, 6, 7]


def test_rendering_is_repeatable_and_quick(stand_in):
    start = time.process_time()
    images, labels = render_faces()
    assert time.process_time() - start < 6.0  # about 2 s on an idle machine
    assert images.shape == (565, 56, 46) and images.dtype == np.uint8
    assert np.bincount(labels).tolist() == list(POSES) and min(POSES) == 19 and max(POSES) == 48
    assert np.array_equal(images, stand_in.blocks[0].images)


def test_another_seed_gives_other_people(stand_in):
    from supclust.data.sets.synthetic_faces import _render_person

    first = _render_person(np.random.default_rng([1, 0]), 2)
    mine = stand_in.blocks[0].images[:2]
    assert np.abs(first.astype(float) - mine).mean() > 5


def test_pictures_have_faces_rather_than_flat_shapes(stand_in):
    frontal = stand_in.blocks[0].images[np.cumsum(POSES) - 1].astype(float)
    # Eyes are darker than the cheeks below them, in nearly every person.
    eyes = frontal[:, 18:26, 12:34].min(axis=(1, 2))
    cheeks = np.median(frontal[:, 28:34, 14:32], axis=(1, 2))
    assert (eyes < 0.6 * cheeks).sum() >= 18
    # From the front the two halves look alike, whatever the light; in profile they do not.
    profile = stand_in.blocks[0].images[np.cumsum(POSES) - POSES].astype(float)
    assert np.median(symmetry(frontal)) > np.median(symmetry(profile)) + 0.3


def symmetry(pictures):
    halves = [(f[:, :23].ravel(), f[:, :22:-1].ravel()) for f in pictures]
    return [np.corrcoef(left, right)[0, 1] for left, right in halves]


def test_each_person_is_a_chain_of_poses(stand_in):
    block = stand_in.blocks[0]
    for code in range(block.n_clusters):
        poses = block.features[block.labels == code]
        steps = np.linalg.norm(np.diff(poses, axis=0), axis=1)
        assert np.linalg.norm(poses[0] - poses[-1]) > 3 * np.median(steps)
    # The nearest other picture is mostly of the same person, often a neighbouring pose.
    distance = cdist(block.features, block.features)
    np.fill_diagonal(distance, np.inf)
    nearest = distance.argmin(axis=1)
    assert (block.labels[nearest] == block.labels).mean() > 0.9
    # And yet a person's own extremes are farther apart than other people in the same pose.
    ends = [np.flatnonzero(block.labels == c)[[0, -1]] for c in range(block.n_clusters)]
    own = np.array([distance[first, last] for first, last in ends])
    others = np.array([np.sort(distance[f, [e[0] for e in ends]])[0] for f, _ in ends])
    assert (own > others).mean() > 0.8


def test_the_stand_in_splits_fifty_times(stand_in):
    assert stand_in.source == "stand-in" and stand_in.d == 20
    for number in range(50):
        assert [part[0].n_clusters for part in split_dataset(stand_in, number)] == [7, 6, 7]
