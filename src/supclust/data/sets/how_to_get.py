"""What to tell a person whose real data are absent: which files, which layout, where from."""

from __future__ import annotations

_BLOCK_FOLDERS = (
    "block folders: <block>/gtClusters.tsv (a line `id cluster` per record) with "
    "<block>/pairFeatures.csv or .tsv, also .gz (a line `id id feature... flag` per pair, the flag "
    "1 in one cluster, else 0)"
)
_ELSEWHERE = (
    ". If the data are in another folder, name it: paths.data=FOLDER, SUPCLUST_DATA or "
    "dataset.path=FOLDER"
)
_STAND_IN = ". To go on without them: dataset.source=stand-in"

HOW_TO_GET = {
    "faces": "get them with `supclust data fetch faces`; or place there umist_cropped_112x92.npz, "
    "or one .tsv in the layout of the authors (a line `id person feature...` per picture)"
    + _ELSEWHERE
    + _STAND_IN,
    "rexa": f"get them with `supclust data fetch rexa`; or place there {_BLOCK_FOLDERS}, 14 "
    "features" + _ELSEWHERE + _STAND_IN,
    "aminer": f"place there {_BLOCK_FOLDERS}, 8 features; or place them in blocks/ there, with a "
    "table blocks.csv beside it (columns folder, records, in_100: 1 for the 100 blocks of the "
    "paper). `supclust data fetch aminer` tells their origin" + _ELSEWHERE + _STAND_IN,
    "np_coref": f"place there {_BLOCK_FOLDERS}, 102 features. They are not public: ask the authors "
    "of the paper for NP_Coref, or take dataset=gum_coref" + _ELSEWHERE + _STAND_IN,
    "gum_coref": "place there documents.csv, tokens.csv.gz and mentions.csv.gz: docs/gum_coref.md "
    "says where they come from" + _ELSEWHERE,
}
"""Name of a set -> advice that follows "the data are not at FOLDER; "."""
