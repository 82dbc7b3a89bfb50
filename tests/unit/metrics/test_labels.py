from __future__ import annotations

import datetime

import numpy as np
import pytest

from supclust.metrics.labels import encode_labels, encode_pair


def partition(labels: object) -> set[frozenset[int]]:
    values = encode_labels(labels).values
    return {frozenset(np.flatnonzero(values == value).tolist()) for value in values}


@pytest.mark.parametrize(
    "labels",
    [
        [7, -3, 7, 0],
        np.array([7, 3, 7, 0], dtype=np.uint8),
        [0.5, -np.inf, 0.5, 2.0],
        ["b", "a", "b", ""],
        np.array(["b", "a", "b", ""]),
        np.array([frozenset("xy"), "a", frozenset("xy"), 1], dtype=object),
        [1, "1", 1, "2"],
        [b"x", b"y", b"x", b"z"],
        np.array(["2020-01-02", "2020-01-01", "2020-01-02", "2019-01-01"], dtype="datetime64[D]"),
        [datetime.date(2020, 1, 2), "a", datetime.date(2020, 1, 2), "c"],
    ],
)
def test_equal_labels_and_only_these_share_a_code(labels: object) -> None:
    codes = encode_labels(labels)
    assert codes.values.dtype == np.int64
    assert codes.n_labels == 3
    assert sorted(set(codes.values.tolist())) == [0, 1, 2]
    assert partition(labels) == {frozenset({0, 2}), frozenset({1}), frozenset({3})}


def test_booleans_are_labels() -> None:
    assert encode_labels([True, False]).n_labels == 2


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "at least one point; received none; skip"),
        ([[0, 1]], r"one-dimensional; received shape \(1, 2\); pass"),
        (3, r"one-dimensional; received shape \(\)"),
        ([[0, 1], [2]], "one-dimensional; received rows of different lengths"),
        ([0.0, np.nan], "must not be missing; received NaN or None"),
        (["a", None], "must not be missing; received NaN or None"),
        (np.array(["a", np.nan], dtype=object), "must not be missing"),
        (np.array(["2020", "NaT"], dtype="datetime64[Y]"), "must not be missing"),
        (np.array([{}, {}], dtype=object), "must be hashable; received"),
    ],
)
def test_labels_that_make_no_sense_are_refused(labels: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode_labels(labels)


def test_the_count_must_match() -> None:
    with pytest.raises(ValueError, match="labels must have one entry per point, 3; received 2"):
        encode_labels([0, 1], 3)
    with pytest.raises(
        ValueError, match="labels_pred must have one entry per point, 2; received 1"
    ):
        encode_pair([0, 1], [0])
