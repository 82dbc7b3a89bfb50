"""The stand-in for the UMIST faces: 20 rendered people, from profile to frontal.

The surface of a person is computed once (``head_surface``); a picture then costs one rotation, one
lighting and one pass over the points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from supclust.data.block import ByteArray, IntArray
    from supclust.data.sets.head_surface import Points, Surface

VERSION = 1
HEIGHT, WIDTH = 56, 46
PIXELS_PER_UNIT = 25.0  # half the height of a head
# As many pictures of each person as the real set has without its duplicates: 565 in all.
POSES = (38, 25, 26, 24, 26, 23, 19, 22, 20, 32, 34, 34, 26, 30, 19, 26, 26, 33, 48, 34)


def render_faces(seed: int = 0) -> tuple[ByteArray, IntArray]:
    """Pictures and person codes of the stand-in.

    Neighbouring poses of a person are close and the extremes far apart, so that a person is a
    chain: what single linkage follows and complete linkage breaks.

    Returns:
        images (565, 56, 46) uint8, grouped by person, each from profile to frontal; labels (565,)
        int64.

    Complexity: about 1 ms a picture.
    """
    images = np.empty((sum(POSES), HEIGHT, WIDTH), dtype=np.uint8)
    labels = np.repeat(np.arange(len(POSES), dtype=np.int64), POSES)
    start = 0
    for code, count in enumerate(POSES):
        rng = np.random.default_rng([seed, code])
        images[start : start + count] = _render_person(rng, count)
        start += count
    return images, labels


def _render_person(rng: np.random.Generator, count: int) -> ByteArray:
    from supclust.data.sets.head_surface import build_surface, draw_person

    person = draw_person(rng)
    surface = build_surface(person)
    lamp_x, lamp_y = rng.uniform(-0.5, 0.7), rng.uniform(0.3, 0.8)
    base_pitch = rng.uniform(-0.12, 0.10)
    yaws = np.linspace(rng.uniform(1.35, 1.55), rng.uniform(0.0, 0.12), count)
    yaws = yaws + rng.normal(0.0, 0.012, count)
    drift = np.cumsum(rng.normal(0.0, 0.25, (count, 2)), axis=0)
    drift = np.clip(drift - drift.mean(axis=0), -1.5, 1.5)
    pictures = np.empty((count, HEIGHT, WIDTH), dtype=np.uint8)
    for pose in range(count):
        picture = render(
            surface,
            yaw=float(yaws[pose]),
            pitch=float(base_pitch + rng.normal(0.0, 0.012)),
            light=(float(lamp_x), float(lamp_y), 1.0),
            shift=(float(drift[pose, 0]), float(drift[pose, 1])),
            backdrop=person.backdrop,
        )
        grain = rng.normal(0.0, 2.0, picture.shape) + rng.normal(0.0, 1.5)
        pictures[pose] = np.clip(np.rint(picture + grain), 0, 255)
    return pictures


def render(
    surface: Surface,
    yaw: float,
    pitch: float,
    light: tuple[float, float, float],
    shift: tuple[float, float],
    backdrop: float,
) -> ByteArray:
    """One grey picture, (56, 46) uint8.

    Args:
        surface: The person.
        yaw: Radians; 0 looks into the camera, pi/2 shows the right profile.
        pitch: Radians; positive looks down.
        light: Direction towards the lamp, any length.
        shift: Displacement in pixels, right and down.
        backdrop: Grey of the background, [0, 1].

    Complexity: O(points), one pass.
    """
    rotation = _rotation(yaw, pitch)
    facing = np.flatnonzero(_along(surface.normals, rotation[2]) > 0.02)
    points = surface.points[facing]
    x, y, depth = (_along(points, axis) for axis in rotation)
    # A margin keeps what truncation would wrongly pull in from the left and the top outside.
    column = (WIDTH / 2 + shift[0] + 1 + x * PIXELS_PER_UNIT).astype(np.int64) - 1
    row = (HEIGHT * 0.47 + shift[1] + 1 - y * PIXELS_PER_UNIT).astype(np.int64) - 1
    inside = np.flatnonzero((column >= 0) & (column < WIDTH) & (row >= 0) & (row < HEIGHT))
    pixel = row[inside] * WIDTH + column[inside]
    depth, facing = depth[inside], facing[inside]
    # Rotating the lamp back is cheaper than rotating every normal.
    shade = surface.greys[facing] * _lighting(surface.normals[facing], rotation.T @ light)
    nearest = np.full(HEIGHT * WIDTH, -np.inf)
    np.maximum.at(nearest, pixel, depth)
    # Averaging everything close to the nearest point of a pixel is what smooths the edges.
    visible = depth > nearest[pixel] - 0.07
    count = np.bincount(pixel[visible], minlength=HEIGHT * WIDTH)
    total = np.bincount(pixel[visible], weights=shade[visible], minlength=HEIGHT * WIDTH)
    picture = np.where(count > 0, total / np.maximum(count, 1), np.nan).reshape(HEIGHT, WIDTH)
    picture = _close_holes(picture, backdrop)
    return np.clip(np.rint(255.0 * picture), 0, 255).astype(np.uint8)


def _rotation(yaw: float, pitch: float) -> Points:
    cy, sy, cp, sp = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    about_y = np.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cp, -sp], [0.0, sp, cp]])
    return np.asarray(about_x @ about_y)


def _lighting(normals: Points, light: Points) -> Points:
    """Ambient plus Lambert light."""
    lamp = light / np.linalg.norm(light)
    return 0.38 + 0.72 * np.maximum(_along(normals, lamp), 0.0)


def _along(points: Points, axis: Points) -> Points:
    """Inner products (m,), spelled out: waking a threaded BLAS for three columns costs more."""
    return np.asarray(points[:, 0] * axis[0] + points[:, 1] * axis[1] + points[:, 2] * axis[2])


def _close_holes(picture: Points, backdrop: float) -> Points:
    """Fill pixels no point fell into: from neighbours inside the head, the backdrop outside."""
    known = np.pad(~np.isnan(picture), 1)
    values = np.where(known, np.pad(picture, 1), 0.0)
    count = np.zeros(picture.shape, dtype=np.int64)
    total = np.zeros(picture.shape)
    for row in range(3):
        for column in range(3):
            window = np.s_[row : row + HEIGHT, column : column + WIDTH]
            count += known[window]
            total += values[window]
    filled = np.where(count >= 5, total / np.maximum(count, 1), backdrop)
    return np.where(np.isnan(picture), filled, picture)
