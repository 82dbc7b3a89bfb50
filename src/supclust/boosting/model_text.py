"""LightGBM's text form of a model, read into arrays. Every field is checked.

Supported: numeric splits with any handling of missing values, constant leaves, one output.
Everything else (categorical splits, linear leaves, several classes, averaged trees, unknown
fields) is refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_TREE_ARRAYS = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
# Statistics of training, and fields that are checked on their own.
_TREE_FIELDS = {*_TREE_ARRAYS, "num_leaves", "num_cat", "leaf_value", "is_linear", "shrinkage"} | {
    *("split_gain", "leaf_weight", "leaf_count"),
    *("internal_value", "internal_weight", "internal_count"),
}
_HEADER_FIELDS = {
    *("version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx"),
    *("objective", "feature_names", "feature_infos", "tree_sizes", "monotone_constraints"),
}


class Trees(NamedTuple):
    """All trees of a model in shared arrays, as kernels read them.

    A child or root that is >= 0 is an inner node; ``~child`` is a leaf.
    """

    root: NDArray[np.int32]  # of each tree
    feature: NDArray[np.int32]  # of each inner node
    threshold: NDArray[np.float64]  # values <= threshold go left
    missing: NDArray[np.int8]  # which values are missing: 0 none (NaN counts as 0), 1 zero, 2 NaN
    missing_left: NDArray[np.bool_]  # whether missing values go left
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float64]  # of each leaf
    rows: NDArray[np.float64]  # of training, in each leaf; 0 where the text does not say


def read_text(text: str) -> tuple[Trees, tuple[str, ...], str]:
    """The trees, the names of the features and the objective of a model."""
    body, end, _ = text.partition("\nend of trees\n")
    if not text.startswith("tree\n") or not end:
        raise _damaged("it does not run from the line 'tree' to the line 'end of trees'")
    header_lines, *tree_lines = body.removeprefix("tree\n").split("\nTree=")
    header = _fields(header_lines, _HEADER_FIELDS, "the header")
    for field in ("num_class", "num_tree_per_iteration"):
        if _integer(header, field, "the header") != 1:
            raise _unsupported(f"{field}={header[field]}: only models with one output")
    if header.get("version") not in ("v3", "v4"):
        raise _unsupported(f"version={header.get('version')}: only v3 and v4")
    names = tuple(header.get("feature_names", "").split())
    if len(names) != _integer(header, "max_feature_idx", "the header") + 1:
        raise _damaged(f"max_feature_idx={header['max_feature_idx']}, {len(names)} names")
    if len(header.get("tree_sizes", "").split()) != len(tree_lines):
        raise _damaged(f"{len(tree_lines)} trees; tree_sizes={header.get('tree_sizes')!r}")
    trees = [_read_tree(lines, i, len(names)) for i, lines in enumerate(tree_lines)]
    return _join(trees), names, header.get("objective", "")


def _read_tree(lines: str, index: int, n_features: int) -> Trees:
    """One tree of the text, checked."""
    number, _, rest = lines.partition("\n")
    where = f"tree {index}"
    if number != str(index):
        raise _damaged(f"Tree={number} where Tree={index} is expected")
    fields = _fields(rest, _TREE_FIELDS, where)
    if _integer(fields, "num_cat", where) != 0:
        raise _unsupported(f"categorical splits ({where})")
    if fields.get("is_linear", "0") != "0":
        raise _unsupported(f"linear leaves ({where})")
    leaves = _integer(fields, "num_leaves", where)
    if leaves < 1:
        raise _damaged(f"num_leaves={leaves} ({where})")
    value = _array(fields, "leaf_value", leaves, np.float64, where)
    feature, threshold, decision, left, right = (
        _array(fields, name, leaves - 1, np.float64 if name == "threshold" else np.int64, where)
        for name in _TREE_ARRAYS
    )
    if feature.size and not (feature.min() >= 0 and feature.max() < n_features):
        raise _damaged(f"split_feature is not within the {n_features} features ({where})")
    if np.any(decision & 1):
        raise _unsupported(f"categorical splits ({where})")
    if np.any((decision < 0) | (decision > 10)):
        raise _damaged(f"decision_type is not one of 0, 2, 4, 6, 8, 10 ({where})")
    # Every node but the root and every leaf is the child of one node, which comes before it.
    children = np.sort(np.concatenate([left, right]))
    own = np.arange(leaves - 1)
    expected = np.r_[-leaves:0, 1 : leaves - 1] if leaves > 1 else children
    backwards = ((left >= 0) & (left <= own)) | ((right >= 0) & (right <= own))
    if not np.array_equal(children, expected) or np.any(backwards):
        raise _damaged(f"left_child and right_child are not a tree ({where})")
    root = np.array([0 if leaves > 1 else -1])
    missing, missing_left = decision >> 2, (decision & 2) > 0
    rows = np.zeros(leaves)
    if leaves > 1 and "leaf_count" in fields:
        rows = _array(fields, "leaf_count", leaves, np.float64, where)
    elif leaves == 1:  # LightGBM writes no count of a tree without splits
        rows[0] = 1
    return Trees(root, feature, threshold, missing, missing_left, left, right, value, rows)


def _join(trees: list[Trees]) -> Trees:
    """The arrays of all trees, one after the other, with node numbers of the whole."""
    nodes = np.cumsum([0, *(tree.feature.size for tree in trees)])
    leaves = np.cumsum([0, *(tree.value.size for tree in trees)])

    def shifted(name: str) -> NDArray[np.int32]:
        parts = [
            np.where(child >= 0, child + nodes[i], child - leaves[i])
            for i, child in enumerate(getattr(tree, name) for tree in trees)
        ]
        return np.concatenate([np.empty(0), *parts]).astype(np.int32)

    def joined(name: str, dtype: type) -> NDArray[Any]:
        parts = [getattr(tree, name) for tree in trees]
        return np.concatenate([np.empty(0), *parts]).astype(dtype)

    return Trees(
        shifted("root"),
        joined("feature", np.int32),
        joined("threshold", np.float64),
        joined("missing", np.int8),
        joined("missing_left", np.bool_),
        shifted("left"),
        shifted("right"),
        joined("value", np.float64),
        joined("rows", np.float64),
    )


def _fields(lines: str, known: set[str], where: str) -> dict[str, str]:
    """The ``name=value`` lines of a part of the text."""
    fields: dict[str, str] = {}
    for line in filter(None, lines.split("\n")):
        name, equals, value = line.partition("=")
        if name not in known:
            raise _unsupported(f"the field {name!r} in {where}")
        if not equals or name in fields:
            raise _damaged(f"the line {line[:60]!r} in {where}")
        fields[name] = value
    return fields


def _integer(fields: dict[str, str], name: str, where: str) -> int:
    value = fields.get(name, "")
    if not value.isascii() or not value.isdigit():
        raise _damaged(f"{name}={value!r} is not a number >= 0 ({where})")
    return int(value)


def _array(fields: dict[str, str], name: str, length: int, dtype: type, where: str) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.array(fields.get(name, "").split(), dtype=dtype)
    except (ValueError, OverflowError):
        raise _damaged(f"{name} holds something that is not a number ({where})") from None
    # A threshold of infinity separates missing values from all others.
    legal = ~np.isnan(array) if name == "threshold" else np.isfinite(array)
    if array.size != length or not legal.all():
        received = f"{array.size}, {np.count_nonzero(~legal)} of them not finite"
        raise _damaged(f"{name} must be {length} numbers; received {received} ({where})")
    return array


def _damaged(problem: str) -> ValueError:
    return ValueError(f"This is not an intact LightGBM model: {problem}. Save the model again.")


def _unsupported(feature: str) -> ValueError:
    return ValueError(
        f"This LightGBM model has something that is not supported: {feature}. "
        "Supported are numeric splits, constant leaves and one output."
    )
