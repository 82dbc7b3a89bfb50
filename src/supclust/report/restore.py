"""Recompute the trees of a stored result from its trained model and its data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from supclust.experiment.config import Settings
from supclust.experiment.progress import quiet_loggers
from supclust.experiment.store import TrainingStore, fingerprint
from supclust.hac.tree import Floats, cut_tree
from supclust.metrics.pairwise import pooled_scores
from supclust.metrics.threshold import ThresholdCurve, threshold_curve
from supclust.model.locate import outputs_of
from supclust.model.results import differences
from supclust.report.trees import Points


class NotRestorableError(ValueError):
    """The trees of a result cannot be recomputed; the message says why."""


@dataclass(frozen=True)
class LinkageTrees:
    """The trees of one split under one linkage."""

    alpha: float
    threshold: float | None  # the cut chosen on dev
    dev: ThresholdCurve | None  # pooled over the dev blocks; ``None`` where there are none
    test: ThresholdCurve | None
    trees: dict[str, Floats]  # of the test blocks, by name
    f1_recomputed: float | None = None  # pairwise F1 of the test blocks, from these trees
    f1_stored: float | None = None  # the same, as stored in the result
    ceiling: float | None = None  # F1 of the best tree-consistent cut
    f1_learned: float | None = None  # F1 of the learned cut, where that is the model's


@dataclass(frozen=True)
class SplitTrees:
    """The test blocks of one split and their trees under every linkage."""

    result: dict[str, Any]  # empty for a model without one
    blocks: dict[str, Points]  # by name, largest first
    linkages: dict[str, LinkageTrees]
    part: str = "test"  # name of the blocks in captions


def restore_trees(result: dict[str, Any], data: Path | None = None) -> SplitTrees:
    """Recompute the trees of a finished result.

    Args:
        result: of `supclust.model.results.find_results`.
        data: folder of the real data sets, where it is not the one of the run.

    Raises:
        NotRestorableError: model, settings or data are missing or have changed.
    """
    try:
        return _restore(result, data)
    except NotRestorableError:
        raise
    except (ValueError, OSError, KeyError, RuntimeError) as problem:
        raise NotRestorableError(f"{type(problem).__name__}: {problem}") from problem


def _restore(result: dict[str, Any], data: Path | None) -> SplitTrees:
    training = _training(result)
    settings, dataset = _settings_and_data(result, data)
    from supclust.experiment.training import parts_of, with_module
    from supclust.model.evaluate import trees

    training = with_module(settings, training)
    (parts,) = parts_of(settings, dataset, [result["split"]])
    entries = {
        name: entry for name, entry in result["linkages"].items() if entry["alpha"] is not None
    }
    alphas = {name: float(entry["alpha"]) for name, entry in entries.items()}
    dev, test = (trees(training, part, alphas) for part in (parts.dev, parts.test))
    points = [Points.of(block) for block in sorted(parts.test, key=lambda block: -block.n)]
    linkages = {}
    for name, entry in entries.items():
        held_out, tested = ([(s.tree, s.labels) for s in part[name]] for part in (dev, test))
        linkages[name] = LinkageTrees(
            alpha=alphas[name],
            threshold=entry["threshold"],
            dev=threshold_curve(held_out) if held_out else None,
            test=threshold_curve(tested) if tested else None,
            trees={scored.block: scored.tree for scored in test[name]},
            f1_recomputed=_pooled_f1(tested, entry["threshold"]),
            **_stored_scores(entry),
        )
    return SplitTrees(result, {block.name: block for block in points}, linkages)


def _stored_scores(entry: Mapping[str, Any]) -> dict[str, float | None]:
    """F1 at the height and of a learned cut, and the ceiling, as a result has them."""
    f1, ceiling = entry["test"].get("pairwise_f1"), entry.get("ceiling")
    if entry.get("learned") is None:
        return {"f1_stored": f1, "ceiling": ceiling}
    at_height = entry["cut"]["test_f1"].get("threshold")
    return {"f1_stored": at_height, "f1_learned": f1, "ceiling": ceiling}


def _pooled_f1(trees: list[tuple[Floats, Any]], threshold: float | None) -> float | None:
    """Pairwise F1 at a cut, pair counts pooled over trees with their labels."""
    if threshold is None or not trees:
        return None
    flat = [(labels, cut_tree(tree, height=threshold)) for tree, labels in trees]
    return pooled_scores(flat).f1


def _training(result: Mapping[str, Any]) -> Any:
    outputs = outputs_of(result)
    if outputs is None:
        raise NotRestorableError(f"its trained model ({result.get('model', 'none')}) is not there")
    with quiet_loggers("supclust.experiment.store"):
        training = TrainingStore(outputs).load(Path(result["model"]).name)
    if training is None:
        raise NotRestorableError(f"its trained model ({result['model']}) is damaged")
    return training


def _settings_and_data(result: Mapping[str, Any], data: Path | None) -> tuple[Settings, Any]:
    """Settings and data set whose hash is that of the result."""
    from supclust.experiment.job import load_data

    reasons = []
    for settings in _stored_settings(result):
        if data is not None:
            settings = replace(settings, data=data)
        try:
            dataset = load_data(settings)
        except (ValueError, OSError) as problem:
            reasons.append(f"its data cannot be read: {problem}")
            continue
        identity = settings.result_identity(result["split"], dataset.digest())
        if fingerprint(identity) == result["config_hash"]:
            return settings, dataset
        changes = differences(result["config"], identity)
        only_data = [change for change in changes if change.startswith("data:")] == changes
        reasons.append(
            f"the data set at hand ({dataset.source}) is not the one of the run"
            if only_data
            else f"settings have changed: {'; '.join(changes[:3])}"
        )
    raise NotRestorableError(reasons[0] if reasons else "the configuration of its run is not there")


def _stored_settings(result: Mapping[str, Any]) -> Iterator[Settings]:
    """Configurations that Hydra wrote beside the result, that of its own folder first."""
    from omegaconf import DictConfig, OmegaConf

    from supclust.experiment.config import plain, without_targets

    own = Path(result["path"]).parent
    for folder in (own, *sorted(own.parent.glob("splits-*"))):
        path = folder / ".hydra" / "config.yaml"
        if path.is_file():
            config = OmegaConf.load(path)
            if isinstance(config, DictConfig):
                yield Settings.from_config(without_targets(plain(config)), multirun=True)
