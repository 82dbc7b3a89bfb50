"""Train and evaluate: python train.py objective=exp_alpha dataset=faces (more: --help)."""

from __future__ import annotations

import hydra
from omegaconf import DictConfig

from supclust.experiment.run import launch, run


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg: DictConfig) -> float | None:
    """Run one job; the returned dev score is what a sweeper may maximise."""
    return run(cfg)


if __name__ == "__main__":
    launch(main)
