"""`Settings`: a composed configuration, checked; needs neither torch nor Hydra."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supclust.tables.values import CHECKS, check_value, splits_of

# Of the dataset group; everything else there is an option of the reader.
_DATASET_KEYS = ("name", "source", "path", "split_seed", "n_splits")
TRAINING_VERSION = 1
"""To be raised whenever the same settings train to other numbers."""


@dataclass(frozen=True)
class Settings:
    """What one job does.

    Attributes:
        dataset: name, source, path, split_seed, n_splits.
        reading: options of the reader of the data set.
        objective: name.
        linkage: name of the choice; ``methods`` are the linkages in it.
        methods: linkages to evaluate.
        dissimilarity: name, and options of an encoder.
        recipe: settings of loss and optimiser, see `supclust.objectives.Recipe`, and step_unit.
        trainer: accelerator, precision, max_epochs, purity_every, threads.
        logger: name, and options of W&B.
        splits: numbers of the splits, ascending.
        splits_text: how the splits were asked for, for the name of the job's folder.
        seed: of training.
        axes: further settings that name the folder, with their values.
        data: folder of the real data sets.
        outputs: folder of the results.
        cache: folder of the cache; ``None``: the user's.
        sweep_id: of the multirun this job belongs to; ``None``: it is a plain run.
        job_number: in its multirun.
    """

    dataset: dict[str, Any]
    reading: dict[str, Any]
    objective: str
    linkage: str
    methods: tuple[str, ...]
    dissimilarity: dict[str, Any]
    recipe: dict[str, Any]
    trainer: dict[str, Any]
    logger: dict[str, Any]
    splits: tuple[int, ...]
    splits_text: str
    seed: int
    axes: dict[str, Any]
    data: Path
    outputs: Path
    cache: Path | None
    sweep_id: str | None
    job_number: int

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], *, multirun: bool = False, job_number: int = 0
    ) -> Settings:
        """Check a resolved configuration.

        Args:
            config: plain dictionaries, as composed from ``conf/``.
            multirun: whether the default is all splits, or split 0.
            job_number: in the multirun.

        Raises:
            ValueError: with the legal values.
        """
        check_config(config)
        dataset, paths = dict(config["dataset"]), config["paths"]
        asked = config["split"]
        if asked is None:
            asked = "all" if multirun else 0
        splits = splits_of(asked, int(dataset["n_splits"]))
        return cls(
            dataset={key: dataset[key] for key in _DATASET_KEYS},
            reading={key: value for key, value in dataset.items() if key not in _DATASET_KEYS},
            objective=config["objective"]["name"],
            linkage=config["linkage"]["name"],
            methods=tuple(config["linkage"]["methods"]),
            dissimilarity=dict(config["dissimilarity"]),
            recipe=dict(config["recipe"]),
            trainer=dict(config["trainer"]),
            logger=dict(config["logger"]),
            splits=splits,
            splits_text="all" if asked == "all" else ",".join(map(str, splits)),
            seed=int(config["seed"]),
            axes={key: _at(config, key) for key in config["axes"]},
            data=Path(paths["data"]),
            outputs=Path(paths["outputs"]),
            cache=None if paths["cache"] in (None, "null") else Path(paths["cache"]),
            sweep_id=config["sweep"]["id"],
            job_number=job_number,
        )

    @property
    def title(self) -> str:
        """The data set in folder names and tables; people's own sets by their file name."""
        name, path = str(self.dataset["name"]), self.dataset["path"]
        own = name in ("vectors", "pairs") and path is not None
        return f"{name}-{Path(path).name.split('.')[0]}" if own else name

    @property
    def family(self) -> Path:
        """Folder of all splits, below ``outputs``: made of the values of the axes only."""
        further = "".join(f",{key}={_slug(value)}" for key, value in self.axes.items())
        return Path(self.title) / self.objective / self.linkage / f"seed-{self.seed}{further}"

    @property
    def job_folder(self) -> Path:
        """Folder of the job's log and configuration, below ``outputs``."""
        if len(self.splits) == 1:
            return self.family / f"split-{self.splits[0]}"
        return self.family / f"splits-{_slug(self.splits_text)}"

    def result_path(self, split: int) -> Path:
        """Where the result of a split is written."""
        return self.outputs / self.family / f"split-{split}" / "result.json"

    def training_identity(self, split: int, digest: str) -> dict[str, Any]:
        """Everything a training's numbers depend on; the linkages are not among it."""
        # Once the automatic threshold was that of all blocks; such results must not mix with ours.
        automatic = {"auto": "of training blocks"} if self.recipe["threshold"] == "auto" else {}
        return {
            "version": TRAINING_VERSION,
            **automatic,
            "data": digest,
            "split_seed": self.dataset["split_seed"],
            "split": split,
            "seed": self.seed,
            "objective": self.objective,
            "dissimilarity": self.dissimilarity,
            "recipe": self.recipe,
            "max_epochs": self.trainer["max_epochs"],
            "precision": self.trainer["precision"],
            "accelerator": self.trainer["accelerator"],
        }

    def result_identity(self, split: int, digest: str) -> dict[str, Any]:
        """Everything a result's numbers depend on."""
        return {
            "dataset": self.title,
            "linkages": list(self.methods),
            **self.training_identity(split, digest),
        }


def check_config(config: Mapping[str, Any]) -> None:
    """Refuse values that no run accepts, and combinations that make no sense."""
    for key, value in _leaves(config):
        check_value(key, value)
        group = key.partition(".")[0]
        if group in ("recipe", "trainer") and key not in CHECKS:
            legal = [name.partition(".")[2] for name in CHECKS if name.startswith(f"{group}.")]
            raise ValueError(f"there is no option {key!r}. Options of {group}: {', '.join(legal)}")
    dataset = config["dataset"]
    if dataset["name"] in ("vectors", "pairs") and not dataset["path"]:
        raise ValueError(
            f"dataset={dataset['name']} is your own data and needs dataset.path; received none. "
            f"Add dataset.path=FILE."
        )
    kind = "vectors" if dataset["name"] in ("faces", "vectors") else "pairs"
    form = config["dissimilarity"]["name"]
    if kind == "pairs" and form in ("mahalanobis", "encoder"):
        raise ValueError(
            f"dissimilarity={form} works on points; dataset={dataset['name']} has features of "
            "pairs. Use dissimilarity=auto or dissimilarity=linear."
        )
    recipe = config["recipe"]
    if (recipe["threshold"] == "auto") != (recipe["margin"] == "auto"):
        raise ValueError(
            "recipe.threshold and recipe.margin are both auto or both numbers; received "
            f"{recipe['threshold']} and {recipe['margin']}. Give both."
        )
    for key in config["axes"]:
        _at(config, key)


def fingerprint(identity: Mapping[str, Any]) -> str:
    """SHA-256 of a JSON-able identity, independent of the order of its keys.

    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _leaves(config: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in config.items():
        name = f"{prefix}{key}"
        found += _leaves(value, f"{name}.") if isinstance(value, Mapping) else [(name, value)]
    return found


def _at(config: Mapping[str, Any], key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise ValueError(
                f"axes names settings; received {key!r}, which does not exist. "
                "Use names as in `python train.py --cfg job`, for example axes=[recipe.lr]."
            )
        value = value[part]
    return value


def _slug(value: Any) -> str:
    """A value as part of a folder name: short, without separators."""
    text = "".join(c if c.isalnum() or c in "-_.," else "_" for c in str(value))
    if len(text) <= 40:
        return text
    return f"{text[:24]}-{hashlib.sha256(str(value).encode()).hexdigest()[:10]}"
