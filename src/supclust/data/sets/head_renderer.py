"""A small renderer of shaded heads: points are turned, lit and splatted into a pixel grid.

Points, normals and grey values of a person are computed once (``head_surface``); a picture then
costs one rotation, one lighting and one pass over the points.
"""

from __future__ import annotations

import numpy as np

from supclust.data.block import ByteArray
from supclust.data.sets.head_surface import Points, Surface

HEIGHT, WIDTH = 56, 46
PIXELS_PER_UNIT = 25.0  # half the height of a head


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
    turn = _rotation(yaw, pitch)
    facing = np.flatnonzero(_along(surface.normals, turn[2]) > 0.02)
    points = surface.points[facing]
    x, y, depth = (_along(points, axis) for axis in turn)
    # A margin keeps what truncation would wrongly pull in from the left and the top outside.
    column = (WIDTH / 2 + shift[0] + 1 + x * PIXELS_PER_UNIT).astype(np.int64) - 1
    row = (HEIGHT * 0.47 + shift[1] + 1 - y * PIXELS_PER_UNIT).astype(np.int64) - 1
    inside = np.flatnonzero((column >= 0) & (column < WIDTH) & (row >= 0) & (row < HEIGHT))
    pixel = row[inside] * WIDTH + column[inside]
    depth, facing = depth[inside], facing[inside]
    # Turning the lamp back is cheaper than turning every normal.
    shade = surface.greys[facing] * _lighting(surface.normals[facing], turn.T @ light)
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
    turned: Points = about_x @ about_y
    return turned


def _lighting(normals: Points, light: Points) -> Points:
    """Ambient plus Lambert light."""
    lamp = light / np.linalg.norm(light)
    lit: Points = 0.38 + 0.72 * np.maximum(_along(normals, lamp), 0.0)
    return lit


def _along(points: Points, axis: Points) -> Points:
    """Inner products (m,), spelled out: waking a threaded BLAS for three columns costs more."""
    product: Points = points[:, 0] * axis[0] + points[:, 1] * axis[1] + points[:, 2] * axis[2]
    return product


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
