"""GUM coreference as a data set: one block per document, features of all pairs of its mentions.

Every annotated mention is a point, singletons included.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from supclust.data.block import Block, Dataset, encode_labels
from supclust.data.errors import DataError
from supclust.data.sets.gum.attributes import describe
from supclust.data.sets.gum.features import FEATURE_NAMES, pair_features
from supclust.data.sets.gum.mentions import read_documents

VERSION = 1
ENTITY_TYPES = ("annotated", "none")
SIZES = (62, 10, 32)  # the paper's for NP coreference; each split leaves 4 of the 108 out


def read_gum_coref(root: str | Path, entity_types: str = "annotated") -> Dataset:
    """Read the three tables and compute the features of all pairs.

    Args:
        root: Folder of the tables.
        entity_types: ``"annotated"``, or ``"none"`` to do without: annotators gave all mentions of
            an entity one type, so types hold more information than a tagger's would.

    Complexity: O(sum of n^2 (d + w)) over documents; 4 bytes a feature and pair. The 108 documents
    take about seven seconds of one core and 1.4 GB.
    """
    if entity_types not in ENTITY_TYPES:
        raise DataError(
            f"entity_types must be {' or '.join(ENTITY_TYPES)}; received {entity_types!r}"
        )
    blocks = []
    for document, truth in read_documents(root):
        if entity_types == "none":
            document = replace(document, entity_type=("",) * document.n)
        labels, clusters = encode_labels(truth.clusters)
        features = pair_features(describe(document))
        blocks.append(Block(document.name, truth.ids, labels, "pairs", features, clusters))
    return Dataset(
        name="gum_coref",
        kind="pairs",
        source="real",
        blocks=tuple(blocks),
        feature_names=FEATURE_NAMES,
        sizes=SIZES if len(blocks) >= sum(SIZES) else None,
    )
