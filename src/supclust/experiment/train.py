"""``supclust train``: what ``train.py`` does, in any folder.

The configuration is that of the checkout supclust is imported from, or the copy in the wheel.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import hydra
from omegaconf import DictConfig

from supclust.experiment.run import launch, run

TEMPLATES = "multirun_templates"
_PACKAGE = Path(__file__).resolve().parents[1]


def configuration(folder: str) -> Path:
    """A folder of the project's root, ``conf`` or ``multirun_templates``; in the wheel its copy."""
    copy = _PACKAGE / folder
    return copy if copy.is_dir() else _PACKAGE.parents[1] / folder


@hydra.main(version_base="1.3", config_path=str(configuration("conf")), config_name="config")
def main(cfg: DictConfig) -> float | None:
    """Run one job; the returned dev score is what a sweeper may maximise."""
    return run(cfg)


def train(arguments: Sequence[str]) -> None:
    """Call ``train.py`` with these arguments; the templates are found from every folder."""
    shipped = str(configuration(TEMPLATES))
    has_templates = Path(TEMPLATES).is_dir()
    words = (word if has_templates else _with_folder(word, shipped) for word in arguments)
    sys.argv = [sys.argv[0], *words]  # which Hydra reads
    launch(main)


def _with_folder(word: str, folder: str) -> str:
    """``multirun_templates``, also as the value of an option, replaced by the folder."""
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}{folder}" if value.rstrip("/") == TEMPLATES else word
