"""``supclust train``: train and evaluate as train.py does, also outside of a checkout."""

from __future__ import annotations

import argparse

EXAMPLES = (
    "supclust train objective=exp_alpha dataset=faces",
    "supclust train -m objective=exp_alpha dataset=faces split=0,1",
    "supclust train --config-dir multirun_templates --config-name smoke",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Leave all arguments to Hydra, those that begin with a dash and --help included."""
    parser.prefix_chars = "\0"
    parser.add_argument("arguments", nargs="*")


def run(options: argparse.Namespace) -> int:
    """Run Hydra, which ends the process with an exit code where something is wrong."""
    from supclust.experiment.train import train

    train(options.arguments)
    return 0
