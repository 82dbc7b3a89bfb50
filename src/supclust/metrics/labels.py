"""Labels of any kind (integers, strings, other hashables) to codes 0..k-1, checked once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

_SORTABLE_KINDS = "biufMm"  # NumPy sorts these faster than Python hashes them


class Codes(NamedTuple):
    """Labels as small integers."""

    values: NDArray[np.int64]
    """(n,) code of every point, 0 to n_labels - 1."""
    n_labels: int
    """Number of distinct labels."""


def encode_labels(labels: ArrayLike, n_points: int | None = None, name: str = "labels") -> Codes:
    """Replace labels by codes 0..k-1; equal labels and only equal labels share one.

    Every value is a label, negative ones too: drop padding before calling.

    Args:
        labels: (n,) hashable values, n >= 1; NaN and None count as missing and are refused.
        n_points: the required length, if there is one.
        name: what to call the argument in messages.

    Returns:
        The codes and how many differ.

    Complexity: O(n log n) for numbers, O(n) hashing otherwise.

    >>> encode_labels(["b", "a", "b"]).n_labels
    2
    """
    array = _as_vector(labels, name)
    if len(array) == 0:
        raise ValueError(f"{name} must hold at least one point; received none; skip empty blocks")
    if n_points is not None and len(array) != n_points:
        raise ValueError(
            f"{name} must have one entry per point, {n_points}; received {len(array)}; "
            "pass the labels of exactly the points that were clustered"
        )
    if array.dtype.kind in _SORTABLE_KINDS:
        distinct, values = np.unique(array, return_inverse=True)
        missing = bool((distinct != distinct).any())
        codes = Codes(values.astype(np.int64, copy=False), len(distinct))
    else:
        # A list such as [1, "1"] has become an array of strings: hash the values as given.
        given = labels if isinstance(labels, (list, tuple)) else array.tolist()
        code_of = _numbered(given, name)
        missing = any(label is None or label != label for label in code_of)
        values = np.fromiter(map(code_of.__getitem__, given), dtype=np.int64, count=len(array))
        codes = Codes(values, len(code_of))
    if missing:
        raise ValueError(
            f"{name} must not be missing; received NaN or None among them; "
            "drop those points or give each a label of its own"
        )
    return codes


def encode_pair(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[Codes, Codes]:
    """Codes of two labelings of the same points; ``ValueError`` where the lengths differ."""
    true = encode_labels(labels_true, name="labels_true")
    return true, encode_labels(labels_pred, len(true.values), name="labels_pred")


def _as_vector(labels: ArrayLike, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise ValueError(
            f"{name} must be one-dimensional; received rows of different lengths; "
            "pass the labels of one block at a time"
        ) from error
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional; received shape {array.shape}; "
            "pass the labels of one block at a time, one value per point"
        )
    return array


def _numbered(labels: Any, name: str) -> dict[Any, int]:
    try:
        return {label: code for code, label in enumerate(dict.fromkeys(labels))}
    except TypeError as error:
        raise ValueError(
            f"{name} must be hashable; received a value that is not ({error}); "
            "use numbers, strings or tuples as labels"
        ) from error
