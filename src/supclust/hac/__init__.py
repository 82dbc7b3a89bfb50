"""Dissimilarities to trees: exact ExpLink clustering on CPU and device, and top-down trees.

Names are imported on first use: `linkage` and the compiled kernels need no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supclust.hac._linkage import linkage, linkages
    from supclust.hac.dendrogram import Dendrogram
    from supclust.hac.family import METHODS, alpha_of, nearest_linkage
    from supclust.hac.heights import merge_heights
    from supclust.hac.module import ExpLinkHAC
    from supclust.hac.topdown import random_tree, recursive_sparsest_cut
    from supclust.hac.tree import check_tree, cut_tree

__all__ = [
    "METHODS",
    "Dendrogram",
    "ExpLinkHAC",
    "alpha_of",
    "check_tree",
    "cut_tree",
    "linkage",
    "linkages",
    "merge_heights",
    "nearest_linkage",
    "random_tree",
    "recursive_sparsest_cut",
]

_NAMES_BY_MODULE = {
    "_linkage": ("linkage", "linkages"),
    "dendrogram": ("Dendrogram",),
    "family": ("METHODS", "alpha_of", "nearest_linkage"),
    "heights": ("merge_heights",),
    "module": ("ExpLinkHAC",),
    "topdown": ("random_tree", "recursive_sparsest_cut"),
    "tree": ("check_tree", "cut_tree"),
}
_HOME = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
