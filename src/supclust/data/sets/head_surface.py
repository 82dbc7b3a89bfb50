"""The surface of a generated head: points, normals and grey values.

A head is the surface {r(u) u} over unit directions u, with r an ellipsoid plus smooth bumps (nose,
brows, lips, chin, ears, hair). Neck and shoulders are plain ellipsoids.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt

N_POINTS = 20_000

Points = npt.NDArray[np.float64]


# Traits of a head: lowest and highest value, and the share of people who have it (else 0). Lengths
# are in half head heights, angles in radians, greys in [0, 1].
TRAITS = {
    "width": (0.68, 0.80, 1.0),
    "depth": (0.84, 0.96, 1.0),
    "jaw": (0.08, 0.34, 1.0),  # how much narrower the jaw is than the temples
    "chin": (0.03, 0.10, 1.0),
    "cheeks": (0.0, 0.05, 1.0),
    "nose_length": (0.13, 0.24, 1.0),
    "nose_width": (0.11, 0.18, 1.0),
    "nose_tip": (-0.24, -0.13, 1.0),  # latitude of the tip
    "eye_gap": (0.36, 0.46, 1.0),  # longitude of each eye
    "eye_height": (0.08, 0.18, 1.0),  # latitude of the eyes
    "eye_size": (0.075, 0.115, 1.0),
    "brow_weight": (0.45, 1.0, 1.0),
    "brow_lift": (0.17, 0.25, 1.0),
    "mouth_width": (0.24, 0.36, 1.0),
    "mouth_height": (-0.56, -0.47, 1.0),
    "lip_weight": (0.4, 1.0, 1.0),
    "ear_size": (0.10, 0.20, 1.0),
    "hairline": (0.55, 0.95, 1.0),  # latitude of the hair at the forehead
    "hair_length": (-1.1, -0.1, 1.0),  # lowest latitude of the hair at the back
    "hair_volume": (0.05, 0.16, 1.0),
    "fringe": (-0.25, 0.25, 1.0),  # how far the parting is to one side
    "beard": (0.35, 0.85, 0.25),
    "glasses": (0.7, 1.0, 0.3),
    "shirt": (0.1, 0.9, 1.0),
    "backdrop": (0.55, 0.85, 1.0),
}


class Person(SimpleNamespace):
    """A value of every trait, and the greys ``skin`` and ``hair``."""


def draw_person(rng: np.random.Generator) -> Person:
    """A person with random but plausible traits."""

    def between(low: float, high: float) -> float:
        return float(low + (high - low) * rng.random())

    skin = between(0.52, 0.92)
    hair = between(0.06, 0.75) if rng.random() < 0.35 else between(0.05, 0.25)
    traits = {
        name: between(low, high) if share == 1.0 or rng.random() < share else 0.0
        for name, (low, high, share) in TRAITS.items()
    }
    return Person(skin=skin, hair=hair, **traits)


@dataclass(frozen=True)
class Surface:
    """Points of a person's surface with outward normals and grey values."""

    points: Points  # (m, 3): x to the person's left, y up, z out of the face
    normals: Points  # (m, 3)
    greys: Points  # (m,)


def build_surface(person: Person) -> Surface:
    """The surface of head, neck and shoulders of one person."""
    directions = _directions(N_POINTS)
    points = directions * _radius(person, directions)[:, None]
    head = Surface(points, _normals(person, directions, points), _paint(person, directions))
    neck = _ellipsoid((0.0, -1.05, -0.16), (0.40, 0.75, 0.40), person.skin * 0.86)
    shoulders = _ellipsoid((0.0, -1.72, -0.22), (1.35, 0.62, 0.62), person.shirt)
    parts = (head, neck, shoulders)
    return Surface(
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.greys for part in parts]),
    )


def _directions(count: int) -> Points:
    """Unit vectors in sunflower lattices, most of them on the face, where the detail is."""
    front = _sunflower(count * 3 // 5, 0.0)
    back = _sunflower(count * 2 // 5, 0.0) * [1.0, 1.0, -1.0]
    return np.concatenate([front, back])


def _sunflower(count: int, lowest_z: float) -> Points:
    index = np.arange(count) + 0.5
    z = lowest_z + (1.0 - lowest_z) * index / count
    ring = np.sqrt(1.0 - z * z)
    angle = index * np.pi * (3.0 - np.sqrt(5.0))
    return np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1)


def _bump(
    lon: Points, lat: Points, at: tuple[float, float], size: tuple[float, float]
) -> npt.NDArray[np.float64]:
    """exp(-(dlon/size0)^2 - (dlat/size1)^2)."""
    return np.exp(-(((lon - at[0]) / size[0]) ** 2) - ((lat - at[1]) / size[1]) ** 2)


def _step(x: Points) -> Points:
    """Smooth step from 0 to 1 around x = 0, of width about 1."""
    return 0.5 * (1.0 + np.tanh(2.0 * x))


def _angles(directions: Points) -> tuple[Points, Points]:
    lon = np.arctan2(directions[:, 0], directions[:, 2])
    lat = np.arcsin(np.clip(directions[:, 1], -1.0, 1.0))
    return lon, lat


def _hair(person: Person, lon: Points, lat: Points) -> Points:
    """1 under hair, 0 on skin, smooth between."""
    side = (1.0 - np.cos(lon)) / 2.0  # 0 in front, 1 at the back
    fall = np.clip((side - 0.10) * 1.9, 0.0, 1.0) ** 2.0
    line = person.hairline + (person.hair_length - person.hairline) * fall
    line = line - person.fringe * np.sin(1.5 * lon) * np.exp(-((lon / 0.9) ** 2))
    return _step((lat - line) / 0.09)


def _radius(person: Person, directions: Points) -> Points:
    """Distance of the surface from the centre of the head, per direction."""
    p = person
    lon, lat = _angles(directions)
    x, y, z = directions.T
    narrow = 1.0 - p.jaw * _step((-y - 0.45) / 0.5)
    r: Points = 1.0 / np.sqrt((x / (p.width * narrow)) ** 2 + y**2 + (z / p.depth) ** 2)
    # The face is flatter than an egg, the back of the head rounder.
    r -= 0.05 * np.exp(-((lon / 0.75) ** 2) - ((lat / 0.6) ** 2))
    bridge = np.clip((p.eye_height + 0.08 - lat) / (p.eye_height + 0.08 - p.nose_tip), 0.0, 1.0)
    below = _step((lat - p.nose_tip + 0.06) / 0.06)
    r += p.nose_length * bridge**1.2 * below * np.exp(-((lon / p.nose_width) ** 2))
    r += 0.35 * p.nose_length * _bump(lon, lat, (0.0, p.nose_tip), (p.nose_width * 1.7, 0.08))
    for sign in (-1.0, 1.0):
        eye = (sign * p.eye_gap, p.eye_height)
        r -= 0.055 * _bump(lon, lat, eye, (0.24, 0.13))
        r += 0.030 * _bump(lon, lat, eye, (0.12, 0.07))
        r += 0.035 * _bump(lon, lat, (eye[0], eye[1] + 0.19), (0.28, 0.07))
        r += p.cheeks * _bump(lon, lat, (sign * 0.55, -0.16), (0.30, 0.22))
        r += p.ear_size * _bump(lon, lat, (sign * 1.62, -0.02), (0.13, 0.20))
    r += 0.045 * _bump(lon, lat, (0.0, p.mouth_height + 0.05), (0.26, 0.05))
    r += 0.050 * _bump(lon, lat, (0.0, p.mouth_height - 0.06), (0.22, 0.05))
    r -= 0.030 * _bump(lon, lat, (0.0, p.mouth_height - 0.16), (0.25, 0.06))
    r += p.chin * _bump(lon, lat, (0.0, -0.86), (0.38, 0.16))
    r += p.hair_volume * _hair(p, lon, lat)
    return r


def _normals(person: Person, directions: Points, points: Points) -> Points:
    """Outward normals of the surface r(u) u: along u - grad r / r, by central differences."""
    helper = np.where(np.abs(directions[:, 1:2]) < 0.9, [[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]])
    east = np.cross(helper, directions)
    east /= np.linalg.norm(east, axis=1, keepdims=True)
    north = np.cross(directions, east)
    step = 0.015
    normal = points
    for tangent in (east, north):
        ahead = directions + step * tangent
        behind = directions - step * tangent
        slope = _radius(person, ahead / np.sqrt(1 + step * step)) - _radius(
            person, behind / np.sqrt(1 + step * step)
        )
        normal = normal - tangent * (slope / (2 * step))[:, None]
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


def _blend(base: Points, value: float | Points, weight: Points) -> Points:
    return base + (value - base) * np.clip(weight, 0.0, 1.0)


def _paint(person: Person, directions: Points) -> Points:
    """Grey value of each direction: skin, eyes, brows, lips, beard, glasses, ears, hair."""
    p = person
    lon, lat = _angles(directions)
    grey = np.full(len(lon), p.skin)
    cheek_line = 0.52 - 0.30 * np.abs(np.sin(lon)) - 0.16 * np.exp(-((lon / 0.3) ** 2))
    beard = _step((-lat - cheek_line) / 0.22) * _step((1.5 - np.abs(lon)) / 0.25)
    grey = _blend(grey, p.hair * 0.9 + 0.03, p.beard * beard)
    lips = _bump(lon, lat, (0.0, p.mouth_height), (p.mouth_width, 0.085)) * 1.3
    grey = _blend(grey, p.skin * 0.60, p.lip_weight * lips)
    gap = _bump(lon, lat, (0.0, p.mouth_height), (p.mouth_width * 1.1, 0.025)) * 1.4
    grey = _blend(grey, 0.06, gap)
    for sign in (-1.0, 1.0):
        grey = _paint_eye(p, lon, lat, sign, grey)
        nostril = _bump(lon, lat, (sign * p.nose_width * 0.75, p.nose_tip - 0.10), (0.06, 0.035))
        grey = _blend(grey, 0.10, 0.9 * nostril)
        ear = _bump(lon, lat, (sign * 1.55, -0.02), (0.09, 0.15))
        grey = _blend(grey, p.skin * 0.62, 0.8 * ear)
    strands = 1.0 + 0.13 * np.sin(17.0 * lon + 4.0 * np.sin(3.0 * lat)) * np.cos(lat)
    return _blend(grey, p.hair * strands, _hair(p, lon, lat) * 1.05)


def _paint_eye(p: Person, lon: Points, lat: Points, sign: float, grey: Points) -> Points:
    """Socket shadow, white, iris, lid, brow and spectacle rim of one eye."""
    at = (sign * p.eye_gap, p.eye_height)
    grey = _blend(grey, p.skin * 0.72, 0.6 * _bump(lon, lat, at, (0.20, 0.12)))
    u = (lon - at[0]) / (p.eye_size * 1.55)
    v = (lat - at[1]) / (p.eye_size * 0.62)
    inside = _step((1.0 - u * u - v * v) / 0.5)
    grey = _blend(grey, min(1.0, p.skin * 1.25), inside)
    iris = _step((1.0 - (2.1 * u) ** 2 - (1.0 * v) ** 2) / 0.4)
    grey = _blend(grey, 0.03, iris)
    lid = np.exp(-(((np.hypot(u, v) - 1.05) / 0.22) ** 2)) * _step(v / 0.4)
    grey = _blend(grey, 0.05, 0.9 * lid)
    arch = at[1] + p.brow_lift - 0.35 * ((lon - at[0]) / 0.5) ** 2
    brow = np.exp(-(((lat - arch) / 0.05) ** 2) - (((lon - at[0] * 1.05) / 0.21) ** 4))
    grey = _blend(grey, p.hair * 0.7, p.brow_weight * brow)
    if p.glasses > 0.0:
        ring = np.hypot((lon - at[0]) / 0.27, (lat - at[1] + 0.02) / 0.19)
        rim = np.exp(-(((ring - 1.0) / 0.16) ** 2))
        near_side = (sign * lon > 0.55) & (sign * lon < 1.5)
        temple = np.exp(-(((lat - at[1] - 0.03) / 0.04) ** 2)) * near_side
        bridge = np.exp(-(((lat - at[1] - 0.02) / 0.04) ** 2)) * (np.abs(lon) < 0.12)
        grey = _blend(grey, 0.05, p.glasses * (rim + temple + bridge))
    return grey


def _ellipsoid(
    centre: tuple[float, float, float], radii: tuple[float, float, float], grey: float
) -> Surface:
    """A plain ellipsoid of one grey, for neck and shoulders."""
    directions = _sunflower(4000, -1.0)
    normals = directions / np.asarray(radii)
    return Surface(
        directions * np.asarray(radii) + np.asarray(centre),
        normals / np.linalg.norm(normals, axis=1, keepdims=True),
        np.full(len(directions), grey),
    )
