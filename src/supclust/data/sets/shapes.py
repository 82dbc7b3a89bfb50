"""Two-dimensional shapes: generated, and a reader of the published sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from supclust.data.block import Block, encode_labels
from supclust.data.errors import DataError
from supclust.data.tables.numeric_text import content_lines, read_text_table

Points = npt.NDArray[np.float64]


def _pathbased(rng: np.random.Generator) -> list[Points]:
    """An open ring around two blobs, in the scale of the published set (about 30 units across)."""
    angle = np.linspace(-0.20 * np.pi, 1.20 * np.pi, 110)
    radius = 13.5 + rng.normal(0.0, 0.45, len(angle))
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    left, right = (_blob(rng, (x, -1.0), (1.9, 2.4), n) for x, n in ((-5.0, 94), (5.0, 89)))
    # Seven points between the blobs lead single linkage from one into the other.
    between = np.stack([np.linspace(-1.9, 2.0, 7), rng.normal(-1.0, 0.1, 7)], axis=1)
    left, right = np.concatenate([left, between[:3]]), np.concatenate([right, between[3:]])
    return [ring, left, right]


def _spiral(rng: np.random.Generator) -> list[Points]:
    """Three intertwined arms."""
    arms = []
    for arm, count in enumerate((101, 105, 106)):
        winding = np.sqrt(np.linspace(0.08, 1.0, count)) * 1.55 * 2.0 * np.pi * 0.9
        angle = winding + arm * 2.0 * np.pi / 3.0
        points = np.stack([winding * np.cos(angle), winding * np.sin(angle)], axis=1) * 1.5
        arms.append(points + rng.normal(0.0, 0.08, points.shape))
    return arms


def _aggregation(rng: np.random.Generator) -> list[Points]:
    """Seven blobs of unlike size, two pairs of them joined by a thin bridge."""
    discs = (
        ((9.0, 22.5), 5.4, 170),
        ((20.5, 23.0), 2.2, 34),
        ((9.0, 7.5), 5.9, 230),
        ((20.5, 6.5), 3.0, 102),
        ((32.5, 8.0), 3.0, 130),
        ((32.5, 22.0), 4.2, 80),
        ((19.0, 15.3), 1.4, 42),
    )
    clusters = [_disc(rng, centre, radius, count) for centre, radius, count in discs]
    for owner, start, end in ((2, (15.0, 7.0), (17.4, 6.8)), (3, (23.6, 6.7), (29.4, 7.6))):
        bridge = np.linspace(start, end, 8) + rng.normal(0.0, 0.08, (8, 2))
        clusters[owner] = np.concatenate([clusters[owner], bridge])
    return clusters


def _mismatch(rng: np.random.Generator) -> list[Points]:
    """Two parallel, gently rising bands; the lower one ends as high as the upper one begins.

    The difference in height separates most pairs, which all-pairs training finds; but some points
    of different bands are equally high, which misleads single linkage.
    """
    count, length, thickness = 40, 12.0, 0.4
    bands = []
    for right, up in ((0.0, 0.0), (-2.2, 2.4)):
        along = (np.arange(count) + rng.random(count)) / count * length
        height = 0.2 * along + thickness * rng.random(count)
        bands.append(np.stack([along + right, height + up], axis=1))
    return bands


def _blob(
    rng: np.random.Generator, centre: tuple[float, float], spread: tuple[float, float], count: int
) -> Points:
    """A Gaussian blob without its tail: points beyond two deviations are pulled back to there."""
    offsets = rng.normal(size=(count, 2))
    length = np.linalg.norm(offsets, axis=1, keepdims=True)
    return np.asarray(
        np.asarray(centre) + offsets * np.minimum(1.0, 2.0 / length) * np.asarray(spread)
    )


def _disc(
    rng: np.random.Generator, centre: tuple[float, float], radius: float, count: int
) -> Points:
    distance = radius * np.sqrt(rng.random(count))
    angle = 2.0 * np.pi * rng.random(count)
    offsets = np.stack([distance * np.cos(angle), distance * np.sin(angle)], axis=1)
    return np.asarray(centre) + offsets


SHAPES: dict[str, Callable[[np.random.Generator], list[Points]]] = {
    "pathbased": _pathbased,
    "spiral": _spiral,
    "aggregation": _aggregation,
    "mismatch": _mismatch,
}


def shape(name: str, seed: int = 0) -> Block:
    """A generated shape: ``pathbased``, ``spiral``, ``aggregation`` or ``mismatch`` (Fig. 1).

    >>> block = shape("pathbased")
    >>> block.n, block.n_clusters
    (300, 3)
    """
    if name not in SHAPES:
        raise DataError(f"shape must be one of {', '.join(SHAPES)}; received {name!r}")
    clusters = SHAPES[name](np.random.default_rng([seed, list(SHAPES).index(name)]))
    points = np.concatenate(clusters)
    labels = np.repeat(np.arange(len(clusters), dtype=np.int64), [len(c) for c in clusters])
    ids = tuple(str(i) for i in range(len(points)))
    return Block(name, ids, labels, "vectors", points)


def read_shape(folder: str | Path, name: str, labels: int = 0) -> Block:
    """Read a published shape: ``<name>.data.gz`` (two numbers a line), ``<name>.labels<k>.gz``.

    Args:
        folder: Holds the files, gzip or plain.
        name: Name of the set.
        labels: Which of its label files; label 0 in them is noise, kept as a cluster of its own.
    """
    points_path = _existing(Path(folder), f"{name}.data")
    labels_path = _existing(Path(folder), f"{name}.labels{labels}")
    points = read_text_table(points_path, n_keys=0, minimum_numbers=2).numbers
    if points.shape[1] != 2:
        raise DataError(f"expected two numbers a line; received {points.shape[1]}", points_path)
    values = [line for _, line in content_lines(labels_path)]
    if len(values) != len(points):
        raise DataError(
            f"expected {len(points)} labels, one per point of {points_path.name}; received "
            f"{len(values)}",
            labels_path,
        )
    codes, names = encode_labels(values)
    ids = tuple(str(i) for i in range(len(points)))
    return Block(name, ids, codes, "vectors", points, names)


def _existing(folder: Path, stem: str) -> Path:
    for path in (folder / f"{stem}.gz", folder / stem):
        if path.is_file():
            return path
    raise DataError(f"{stem}.gz not found", folder)
