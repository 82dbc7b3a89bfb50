"""Dissimilarities to trees: exact ExpLink clustering on CPU and device, and top-down trees.

Names are imported on first use: `linkage` and the compiled kernels need no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust.hac._linkage import linkage as linkage
    from supclust.hac._linkage import linkages as linkages
    from supclust.hac.dendrogram import Dendrogram as Dendrogram
    from supclust.hac.family import METHODS as METHODS
    from supclust.hac.family import alpha_of as alpha_of
    from supclust.hac.family import nearest_linkage as nearest_linkage
    from supclust.hac.graph._graph_linkage import graph_linkage as graph_linkage
    from supclust.hac.graph.forest import Forest as Forest
    from supclust.hac.heights import merge_heights as merge_heights
    from supclust.hac.module import ExpLinkHAC as ExpLinkHAC
    from supclust.hac.topdown import random_tree as random_tree
    from supclust.hac.topdown import recursive_sparsest_cut as recursive_sparsest_cut
    from supclust.hac.tree import check_tree as check_tree
    from supclust.hac.tree import cut_tree as cut_tree

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "_linkage": ("linkage", "linkages"),
        "dendrogram": ("Dendrogram",),
        "family": ("METHODS", "alpha_of", "nearest_linkage"),
        "graph._graph_linkage": ("graph_linkage",),
        "graph.forest": ("Forest",),
        "heights": ("merge_heights",),
        "module": ("ExpLinkHAC",),
        "topdown": ("random_tree", "recursive_sparsest_cut"),
        "tree": ("check_tree", "cut_tree"),
    },
)
