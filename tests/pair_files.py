"""Small files of pair features for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def write_pair_folders(root: Path, rng: np.random.Generator) -> None:
    """Six blocks of nine points in the layout of the paper's authors."""
    for b in range(6):
        folder = root / f"block{b}"
        folder.mkdir(parents=True)
        labels = rng.integers(0, 3, 9)
        (folder / "gtClusters.tsv").write_text(
            "".join(f"p{i}\t{c}\n" for i, c in enumerate(labels))
        )
        lines = []
        for i in range(9):
            for j in range(i + 1, 9):
                same = int(labels[i] == labels[j])
                features = rng.normal(size=2) + 3 * same
                lines.append(f"p{i},p{j},{features[0]:.4f},{features[1]:.4f},{same}\n")
        (folder / "pairFeatures.csv").write_text("".join(lines))
