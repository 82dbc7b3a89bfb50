"""`FitOptions`: what to learn and how, and the untrained objective that it describes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import torch
from torch import nn

from supclust.cut import CutName
from supclust.data.block import Kind
from supclust.data.datamodule import BlockDataModule, StepUnit
from supclust.data.splits import DatasetSplit
from supclust.dissimilarity import Dissimilarity
from supclust.hac.family import METHODS, check_alpha
from supclust.hac.module import ExpLinkHAC
from supclust.model.spec import (
    build_class,
    build_module,
    is_registered,
    spec_of_module,
    spec_of_name,
)
from supclust.objectives import OBJECTIVES, Baseline, Objective, objective_class
from supclust.objectives.recipe import CLOSED_FORM, complete_recipe, make_recipe, starting_distance


@dataclass(frozen=True)
class FitOptions:
    """What to learn, and how.

    Attributes:
        objective: name; class, or a function with its arguments; or an untrained `Objective`, which
            brings its own dissimilarity and recipe.
        linkage: name; or alpha, as a number or in an `ExpLinkHAC`. Under ``exp`` alpha is learned:
            by the objective, or after training. Used by `fit_model` only.
        dissimilarity: name; class with some arguments, as ``partial(Encoder, width=20)``;
            `Dissimilarity` of one model; or a network that embeds points.
        recipe: settings that differ from the defaults for the kind of data
            (`supclust.objectives.recipe`), ``max_epochs`` and ``step_unit`` among them.
        recipe_name: ``paper``: trained from random values. ``best``: `supclust.model.best`, where
            objective and dissimilarity have a start in closed form; else as ``paper``.
        seed: of initial values, order of steps and sampling.
        precision: bits, 32 or 64.
        accelerator: ``cpu`` or ``gpu``.
        cut: ``dev``, ``threshold``, ``learned`` or ``auto``, see `supclust.model.cuts`; ``None``:
            that of the recipe. Used by `fit_model` only.
    """

    objective: str | Callable[..., Objective | Baseline] | Objective = "exp_alpha"
    linkage: str | float | ExpLinkHAC = "exp"
    dissimilarity: str | partial[Dissimilarity] | Dissimilarity | nn.Module = "auto"
    recipe: Mapping[str, Any] = field(default_factory=dict)
    recipe_name: Literal["paper", "best"] = "paper"
    seed: int = 0
    precision: int = 32
    accelerator: str = "cpu"
    cut: CutName | None = None

    @property
    def dtype(self) -> torch.dtype:
        """Type of features and weights."""
        return torch.float64 if self.precision == 64 else torch.float32


def linkage_and_alpha(linkage: str | float | ExpLinkHAC) -> tuple[str, float | None]:
    """Name, and alpha where it is given."""
    if isinstance(linkage, ExpLinkHAC):
        return "exp", float(linkage.alpha.detach())
    if isinstance(linkage, str):
        if linkage not in METHODS:
            raise ValueError(
                f"linkage must be one of {', '.join(METHODS)}, a number (alpha), or an ExpLinkHAC; "
                f"received {linkage!r}."
            )
        return linkage, None
    return "exp", check_alpha(linkage)


def build_objective(
    options: FitOptions, parts: Sequence[DatasetSplit], splits: Sequence[int]
) -> tuple[Objective, dict[str, Any]]:
    """A new untrained objective, and the complete settings of the recipe."""
    block = parts[0].train[0]
    settings = complete_recipe(block.kind, options.recipe)
    if isinstance(options.objective, Objective):
        return _copy_of(options.objective, options).to(dtype=options.dtype), settings
    make = objective_factory(options)
    automatic = settings["threshold"] == "auto"
    units = [starting_distance(part.train) for part in parts] if automatic else None
    module = build_dissimilarity(options, block.kind, block.d, splits)
    objective = make(module, make_recipe(settings), seed=options.seed, units=units)
    return objective.to(dtype=options.dtype), settings


def objective_factory(options: FitOptions) -> Callable[..., Objective]:
    """What makes the objective of a dissimilarity and a recipe: a class, or a function."""
    given: Any = options.objective
    make = objective_class(given) if isinstance(given, str) else given
    wrong = isinstance(make, type) and not issubclass(make, Objective)
    if not callable(make) or wrong:
        raise ValueError(
            "objective must be a name, an Objective or a class of one; "
            f"received {type(given).__name__}."
        )
    factory: Callable[..., Objective] = make
    return factory


def objective_name(options: FitOptions) -> str:
    """Name of the objective of the options."""
    make = objective_factory(options)
    return str(getattr(make.func if isinstance(make, partial) else make, "name", "custom"))


def step_unit(objective: Objective, settings: Mapping[str, Any]) -> StepUnit:
    """What one step is about: clusters only where the objective takes such steps."""
    unit: StepUnit = settings["step_unit"]
    return "block" if unit == "cluster" and not objective.takes_cluster_steps else unit


def make_data(
    objective: Objective,
    settings: Mapping[str, Any],
    parts: Sequence[DatasetSplit],
    options: FitOptions,
) -> BlockDataModule:
    """The blocks of every split, in the steps that the objective takes."""
    unit = step_unit(objective, settings)
    return BlockDataModule(
        parts, objective.splits, seed=options.seed, step_unit=unit, dtype=options.dtype
    )


def closed_form_start(options: FitOptions, kind: Kind, d: int) -> str | None:
    """Name of the dissimilarity that ``recipe_name="best"`` starts in closed form, if it has one.

    ``None``: it is to be trained from random values.
    """
    given = options.dissimilarity
    if options.recipe_name != "best" or isinstance(options.objective, Objective):
        return None
    if isinstance(given, partial):
        given = "" if given.keywords else getattr(given.func, "name", "")
    name = spec_of_name(given, kind, d)["name"] if isinstance(given, str) and given else ""
    return name if name in CLOSED_FORM else None


def build_baseline(options: FitOptions) -> Baseline | None:
    """The baseline that the options name; ``None`` for an objective that is trained."""
    given = options.objective
    make: Any = OBJECTIVES.load(given) if isinstance(given, str) else given
    chosen = make.func if isinstance(make, partial) else make
    if not (isinstance(chosen, type) and issubclass(chosen, Baseline)):
        return None
    if options.dissimilarity not in ("auto", chosen.dissimilarity):
        raise ValueError(
            f"objective {chosen.name!r} computes a {chosen.dissimilarity} dissimilarity; received "
            f"dissimilarity {_name_of(options.dissimilarity)}. Leave it out."
        )
    baseline: Baseline = make(seed=options.seed)
    return baseline


def _name_of(dissimilarity: Any) -> str:
    made = dissimilarity.func if isinstance(dissimilarity, partial) else dissimilarity
    return repr(made if isinstance(made, str) else getattr(made, "name", type(made).__name__))


def _copy_of(objective: Objective, options: FitOptions) -> Objective:
    """A copy of an `Objective` that the user made."""
    settings = [name for name, value in options.recipe.items()
                if value is not None and name not in ("max_epochs", "step_unit")]  # fmt: skip
    received = [*(["dissimilarity"] if options.dissimilarity != "auto" else []), *settings]
    if received:
        raise ValueError(
            "an Objective brings its own dissimilarity and recipe; received "
            f"{', '.join(received)} as well. Leave them out, or give the objective by name."
        )
    if len(objective.splits) != 1:
        raise ValueError(
            f"an objective of one model is needed; received {len(objective.splits)}. "
            "Make its dissimilarity with splits=(0,)."
        )
    return copy.deepcopy(objective)


def build_dissimilarity(
    options: FitOptions, kind: Kind, d: int, splits: Sequence[int] = (0,)
) -> Dissimilarity:
    """A new dissimilarity of the splits; a module that the user made is copied."""
    given = options.dissimilarity
    if isinstance(given, str):
        return build_module(spec_of_name(given, kind, d), splits, options.seed)
    if isinstance(given, partial):
        return build_class(given, kind, d, splits, options.seed)
    if not isinstance(given, nn.Module):
        received = (
            f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
        )
        raise ValueError(
            "dissimilarity must be a name, an instance of supclust.dissimilarity.Dissimilarity or "
            f"a torch network; received {received}."
        )
    from supclust.dissimilarity import Encoder, Mahalanobis

    if not isinstance(given, Dissimilarity):
        given = Encoder(copy.deepcopy(given), seed=options.seed)
    for_points = isinstance(given, Mahalanobis | Encoder) or getattr(given, "kind", "") == "vectors"
    for_pairs = getattr(given, "kind", "") == "pairs"
    if given.n_splits != 1 or (for_points if kind == "pairs" else for_pairs):
        raise ValueError(
            f"a dissimilarity of one model for {kind} is needed; received {given}. "
            "Make it with splits=(0,), and LinearPair with the kind of your features."
        )
    return copy.deepcopy(given)


def spec_of_options(
    options: FitOptions, module: Dissimilarity, kind: Kind, d: int
) -> dict[str, Any]:
    """The spec of a module that was built from the options, with the arguments of its class."""
    spec, given, name = spec_of_module(module, kind, d), options.dissimilarity, type(module).name
    if "class" not in spec or not isinstance(given, str | partial) or not is_registered(module):
        return spec
    arguments = dict(given.keywords) if isinstance(given, partial) else {}
    return {"name": name, "kind": kind, "d": int(d), "arguments": arguments}
