"""The Faces set: pictures to 20 principal components, real (UMIST) or rendered."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from supclust.data.block import (
    Block,
    ByteArray,
    Dataset,
    FloatArray,
    Source,
    encode_labels,
)
from supclust.data.errors import DataError
from supclust.data.files import load_npz

VERSION = 1
DIMENSIONS = 20
SIZES = (7, 6, 7)
BALANCE = 0.05
UMIST_FILE = "umist_cropped_112x92.npz"
UMIST_ARRAYS = ("images", "person", "filename", "duplicate_of")


def principal_components(points: FloatArray, dimensions: int) -> FloatArray:
    """Scores on the first principal components, centred, in the units of the input.

    With the centred points = U S V^T the scores are U S. U and S^2 come from the small n x n
    matrix of inner products, which for n much smaller than p is several times faster than the full
    decomposition. The sign of a component is free; here the largest entry (by absolute
    value) of each column of V is positive.

    Args:
        points: (n, p).
        dimensions: 1 <= dimensions <= min(n, p).

    Returns:
        (n, dimensions) float64.

    Complexity: O(n^2 p + n^3).

    >>> principal_components(np.array([[0.0, 0.0], [0.0, 2.0]]), 1).round(12).tolist()
    [[-1.0], [1.0]]
    """
    limit = min(points.shape)
    if not 1 <= dimensions <= limit:
        raise DataError(
            f"dimensions must be in 1..{limit} for points of shape {points.shape}; received "
            f"{dimensions}"
        )
    centred = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
    squares, vectors = np.linalg.eigh(centred @ centred.T)  # ascending
    left = vectors[:, ::-1][:, :dimensions]
    scale = np.sqrt(np.maximum(squares[::-1][:dimensions], 0.0))
    loadings = centred.T @ left  # (p, dimensions), V S
    signs = np.sign(loadings[np.abs(loadings).argmax(axis=0), np.arange(dimensions)])
    return np.asarray(left * (scale * signs))


def halve(images: ByteArray) -> FloatArray:
    """Mean of each 2 x 2 square: (n, 2h, 2w) uint8 to (n, h, w) float64."""
    n, height, width = images.shape
    squares = images.reshape(n, height // 2, 2, width // 2, 2)
    return np.asarray(squares.mean(axis=(2, 4), dtype=np.float64))


def read_umist(path: str | Path, dimensions: int = DIMENSIONS) -> Dataset:
    """Read the packed UMIST faces: 565 pictures of 20 people once duplicates are dropped.

    Args:
        path: ``umist_cropped_112x92.npz`` or the folder that holds it.
        dimensions: Number of principal components, fitted on all pictures.
    """
    path = Path(path)
    path = path / UMIST_FILE if path.is_dir() else path
    arrays, _ = load_npz(path, UMIST_ARRAYS)
    missing = [name for name in UMIST_ARRAYS if name not in arrays]
    if missing:
        raise DataError(f"needs the arrays {UMIST_ARRAYS}, {missing} not found", path)
    images, duplicate_of = arrays["images"], arrays["duplicate_of"]
    count = len(images)
    if images.dtype != np.uint8 or images.ndim != 3 or any(side % 2 for side in images.shape[1:]):
        raise DataError(
            "`images` must be (n, height, width) uint8 with even height and width; received "
            f"{images.dtype} of shape {images.shape}",
            path,
        )
    for name in UMIST_ARRAYS[1:]:
        if arrays[name].shape != (count,):
            raise DataError(
                f"`{name}` must have one entry per image, shape ({count},); received "
                f"{arrays[name].shape}",
                path,
            )
    kept = np.flatnonzero(duplicate_of < 0)
    small = halve(images[kept])
    dropped = count - len(kept)
    return faces_dataset(
        small,
        ids=[f"{arrays['person'][i]}/{arrays['filename'][i]}" for i in kept],
        people=[str(person) for person in arrays["person"][kept]],
        source="real",
        dimensions=dimensions,
        notes=(f"{dropped} pixel-identical copies left out",) if dropped else (),
    )


def synthetic_faces(seed: int = 0, dimensions: int = DIMENSIONS) -> Dataset:
    """The rendered stand-in, through the same pipeline as the real set."""
    from supclust.data.sets.synthetic_faces import POSES, render_faces

    images, labels = render_faces(seed)
    pose = np.concatenate([np.arange(count) for count in POSES])
    return faces_dataset(
        images.astype(np.float64),
        ids=[f"p{person:02d}/{number:02d}" for person, number in zip(labels, pose, strict=True)],
        people=[f"p{person:02d}" for person in labels],
        source="stand-in",
        dimensions=dimensions,
        notes=(),
    )


def faces_dataset(
    pictures: FloatArray,
    ids: list[str],
    people: list[str],
    source: Source,
    dimensions: int,
    notes: tuple[str, ...],
) -> Dataset:
    """Reduce pictures (n, h, w) of grey values 0..255 to components, and describe the split."""
    labels, names = encode_labels(people)
    block = Block(
        name="faces",
        ids=tuple(ids),
        labels=labels,
        kind="vectors",
        features=principal_components(pictures.reshape(len(pictures), -1), dimensions),
        cluster_names=names,
        images=np.rint(pictures).astype(np.uint8),
    )
    return Dataset(
        name="faces",
        kind="vectors",
        source=source,
        blocks=(block,),
        feature_names=tuple(f"component_{i + 1}" for i in range(dimensions)),
        notes=notes,
        unit="cluster",
        sizes=SIZES if len(names) == sum(SIZES) else None,
        balance=BALANCE,
    )
