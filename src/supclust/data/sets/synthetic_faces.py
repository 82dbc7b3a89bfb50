"""The embedded stand-in for the UMIST faces: 20 rendered people, from profile to frontal."""

from __future__ import annotations

import numpy as np

from supclust.data.block import ByteArray, IntArray
from supclust.data.sets.head_renderer import HEIGHT, WIDTH, render
from supclust.data.sets.head_surface import Person, build_surface

VERSION = 1
# As many pictures of each person as the real set has without its duplicates: 565 in all.
POSES = (38, 25, 26, 24, 26, 23, 19, 22, 20, 32, 34, 34, 26, 30, 19, 26, 26, 33, 48, 34)


def draw_person(rng: np.random.Generator) -> Person:
    """A person with random but plausible features."""

    def between(low: float, high: float) -> float:
        return float(low + (high - low) * rng.random())

    skin = between(0.52, 0.92)
    hair = between(0.06, 0.75) if rng.random() < 0.35 else between(0.05, 0.25)
    return Person(
        width=between(0.68, 0.80),
        depth=between(0.84, 0.96),
        jaw=between(0.08, 0.34),
        chin=between(0.03, 0.10),
        cheeks=between(0.0, 0.05),
        nose_length=between(0.13, 0.24),
        nose_width=between(0.11, 0.18),
        nose_tip=between(-0.24, -0.13),
        eye_gap=between(0.36, 0.46),
        eye_height=between(0.08, 0.18),
        eye_size=between(0.075, 0.115),
        brow_weight=between(0.45, 1.0),
        brow_lift=between(0.17, 0.25),
        mouth_width=between(0.24, 0.36),
        mouth_height=between(-0.56, -0.47),
        lip_weight=between(0.4, 1.0),
        ear_size=between(0.10, 0.20),
        skin=skin,
        hair=hair,
        hairline=between(0.55, 0.95),
        hair_length=between(-1.1, -0.1),
        hair_volume=between(0.05, 0.16),
        fringe=between(-0.25, 0.25),
        beard=between(0.35, 0.85) if rng.random() < 0.25 else 0.0,
        glasses=between(0.7, 1.0) if rng.random() < 0.3 else 0.0,
        shirt=between(0.1, 0.9),
        backdrop=between(0.55, 0.85),
    )


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
