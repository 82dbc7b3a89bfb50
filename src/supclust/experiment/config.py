"""`Settings`: a composed configuration, checked against the schema before heavy imports."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from omegaconf import DictConfig, OmegaConf

from supclust.cut import DEFAULT_CUTS, CutName
from supclust.experiment.checks import check_config, splits_of, value_at
from supclust.objectives import BASELINES, OBJECTIVES
from supclust.objectives.recipe import BEST, CLOSED_FORM, DEFAULTS, Recipe

if TYPE_CHECKING:
    from supclust.data.block import Kind

TRAINING_VERSION = 1
"""To be raised whenever the same settings train to other numbers."""
# Keys of groups that are not arguments of the class the group names.
_NOT_ARGUMENTS = {
    "dataset": ("name", "split_seed", "n_splits"),
    "objective": ("name",),
    "dissimilarity": ("name",),
    "trainer": ("precision", "threads"),
    "callbacks": (),
    "logger": ("name",),
}


@dataclass(frozen=True)
class Settings:
    """What one job does.

    Attributes:
        dataset: name, path, split_seed, n_splits, and options of its reader.
        objective: name.
        linkage: name of the choice; ``methods`` are the linkages in it.
        methods: linkages to evaluate.
        dissimilarity: name, and options of an encoder.
        recipe: settings of loss and optimiser, see `supclust.objectives.Recipe`, and step_unit.
        recipe_name: ``paper`` or ``best``.
        trainer: accelerator, precision, max_epochs, purity_every, threads.
        logger: name, and options of W&B.
        targets: group -> what `build` instantiates: ``_target_`` and arguments.
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
    objective: str
    linkage: str
    methods: tuple[str, ...]
    dissimilarity: dict[str, Any]
    recipe: dict[str, Any]
    recipe_name: Literal["paper", "best"]
    trainer: dict[str, Any]
    logger: dict[str, Any]
    targets: dict[str, dict[str, Any]]
    splits: tuple[int, ...]
    splits_text: str
    seed: int
    cut: CutName
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
        paths = config["paths"]
        asked = config["split"]
        if asked is None:
            asked = "all" if multirun else 0
        splits = splits_of(asked, int(config["dataset"]["n_splits"]))
        name = _recipe_name(config)
        best = {"recipe": "best"} if name == "best" else {}
        usual = DEFAULT_CUTS[name]
        cut = config.get("cut") or usual
        return cls(
            dataset=_values(config["dataset"]),
            objective=config["objective"]["name"],
            linkage=config["linkage"]["name"],
            methods=tuple(config["linkage"]["methods"]),
            dissimilarity=_values(config["dissimilarity"]),
            recipe={k: v for k, v in _values(config["recipe"]).items() if k != "name"},
            recipe_name=name,
            trainer=_values(config["trainer"]),
            logger=_values(config["logger"]),
            targets={group: _target(group, config.get(group, {})) for group in _NOT_ARGUMENTS},
            splits=splits,
            splits_text="all" if asked == "all" else ",".join(map(str, splits)),
            seed=int(config["seed"]),
            cut=cut,
            axes={
                **best,
                **({} if cut == usual else {"cut": cut}),
                **{key: value_at(config, key) for key in config["axes"]},
            },
            data=Path(paths["data"]),
            outputs=Path(paths["outputs"]),
            cache=None if paths["cache"] in (None, "null") else Path(paths["cache"]),
            sweep_id=config["sweep"]["id"],
            job_number=job_number,
        )

    def build(self, group: str, **more: Any) -> Any:
        """Instantiate the class or call the function that a group of ``conf/`` names.

        With ``_partial_: true`` it is a function that takes the other arguments.

        Args:
            group: of `targets`.
            more: arguments that the configuration does not have.
        """
        from hydra.errors import InstantiationException
        from hydra.utils import instantiate

        try:
            return instantiate(self.targets[group], _convert_="all", **more)
        except InstantiationException as error:
            if isinstance(error.__cause__, ImportError):
                raise ValueError(
                    f"the class of {group} cannot be imported: {error.__cause__} "
                    "Correct its _target_, install its package, or put the folder that contains "
                    "it on PYTHONPATH."
                ) from error
            if isinstance(error.__cause__, TypeError):
                raise ValueError(
                    f"the class of {group} cannot be called with the arguments of its "
                    f"configuration: {error.__cause__} Correct them; a class that takes further "
                    "arguments from the run needs `_partial_: true`."
                ) from error
            raise error.__cause__ or error from None  # as if it had been called directly

    @property
    def title(self) -> str:
        """The data set in folder names and tables; people's own sets by their file name."""
        name, path = str(self.dataset["name"]), self.dataset["path"]
        if self.dataset.get("names", 100) != 100:
            return f"{name}-{self.dataset['names']}"
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
        # Early versions took the automatic threshold from all blocks: their results are different.
        automatic = {"auto": "of training blocks"} if self.recipe["threshold"] == "auto" else {}
        return {
            "version": TRAINING_VERSION,
            **automatic,
            "data": digest,
            "split_seed": self.dataset["split_seed"],
            "split": split,
            "seed": self.seed,
            "objective": self.objective,
            **self._objective_options(),
            "dissimilarity": self.dissimilarity,
            "recipe": self.recipe,
            **({"recipe_name": "best"} if self.recipe_name == "best" else {}),
            "max_epochs": self.trainer["max_epochs"],
            "precision": self.trainer["precision"],
            "accelerator": self.trainer["accelerator"],
        }

    def _objective_options(self) -> dict[str, Any]:
        """Arguments of an objective's class, where its configuration has some."""
        options = _values(self.targets["objective"])
        return {"objective_options": options} if options else {}

    def result_identity(self, split: int, digest: str) -> dict[str, Any]:
        """Everything a result's numbers depend on."""
        return {
            "dataset": self.title,
            "linkages": list(self.methods),
            **({} if self.cut == DEFAULT_CUTS[self.recipe_name] else {"cut": self.cut}),
            **self.training_identity(split, digest),
        }


def plain(config: DictConfig) -> dict[str, Any]:
    """A composed configuration as resolved dictionaries, without Hydra's own settings."""
    keys = [str(key) for key in config if key != "hydra"]
    container = OmegaConf.to_container(OmegaConf.masked_copy(config, keys), resolve=False)
    resolved = OmegaConf.to_container(OmegaConf.create(container), resolve=True)
    assert isinstance(resolved, dict)
    return {str(key): value for key, value in resolved.items()}


def without_targets(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration that was read from a file beside results, with names instead of classes.

    A ``_target_`` is code that `Settings.build` runs, and folders of results may be untrusted.
    """
    return {
        key: without_targets(value) if isinstance(value, Mapping) else value
        for key, value in config.items()
        if not key.startswith("_")
    }


def _values(group: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a group without Hydra's keywords, such as ``_target_``."""
    return {key: value for key, value in group.items() if not key.startswith("_")}


def _target(group: str, node: Mapping[str, Any]) -> dict[str, Any]:
    """What `Settings.build` instantiates for a group."""
    arguments = {key: node[key] for key in node if key not in _NOT_ARGUMENTS[group]}
    if "_target_" in arguments:
        return arguments
    # Stored configurations have names only: those of version 0.1, and `without_targets`.
    if group == "dataset":
        target = "supclust.data.sets.registry.load_dataset"
        return {"_target_": target, "name": node["name"], **arguments}
    if group == "objective":
        return {"_target_": OBJECTIVES.path(node["name"]), "_partial_": True, **arguments}
    return arguments


def _slug(value: Any) -> str:
    """A value as part of a folder name: short, without separators."""
    text = "".join(c if c.isalnum() or c in "-_.," else "_" for c in str(value))
    if len(text) <= 40:
        return text
    return f"{text[:24]}-{hashlib.sha256(str(value).encode()).hexdigest()[:10]}"


def _recipe_name(config: Mapping[str, Any]) -> Literal["paper", "best"]:
    """The recipe in force: ``best`` needs a start in closed form, and baselines have no recipe."""
    if config["recipe"].get("name") != "best" or config["objective"]["name"] in BASELINES:
        return "paper"
    return "best" if config["dissimilarity"]["name"] in ("auto", *CLOSED_FORM) else "paper"


def _paper_value(key: str, *, _root_: DictConfig) -> Any:
    """``${paper:lr}``: the data set's setting in recipes.yaml, unless the objective has its own.

    Under ``recipe=best``, where it is in force, that of `supclust.objectives.recipe.BEST`.
    """
    if _recipe_name(cast("Mapping[str, Any]", _root_)) == "best":
        return BEST["max_epochs" if key == "epochs" else key]
    row = _root_.paper[_root_.dataset.name]
    exceptions = row["except"].get(_root_.objective.name) or {}
    return {"tolerance": Recipe.tolerance, **row, **exceptions}[key]


def _default_recipe(kind: str) -> DictConfig:
    """``${default_recipe:vectors}``: a row of recipes.yaml, for users' own data of a kind."""
    row = dict(DEFAULTS[cast("Kind", kind)])
    return OmegaConf.create({"epochs": row.pop("max_epochs"), **row, "except": {}})


OmegaConf.register_new_resolver("default_recipe", _default_recipe, replace=True)
OmegaConf.register_new_resolver("paper", _paper_value, replace=True)
