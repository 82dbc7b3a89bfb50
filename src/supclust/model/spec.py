"""Module specs: plain values that a dissimilarity can be built from, and its weights as arrays.

A spec is what ``model.json`` holds: ``{"name": "mahalanobis", "kind": "vectors", "d": 20}``; an
encoder has ``widths`` as well, a module that cannot be built again ``class``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from supclust.data.block import Kind
from supclust.registry import DISSIMILARITIES

if TYPE_CHECKING:
    from torch import nn

    from supclust.dissimilarity import Dissimilarity, Encoder

Weights = Mapping[str, NDArray[Any]]
"""Arrays of one model by name, without the axis of splits."""

CUSTOM = "custom"
"""Name of a module that cannot be built from its spec."""
HIDDEN, WIDTH = (64,), 20
"""Hidden layers and embedding of an encoder chosen by name, as in conf/dissimilarity."""


def spec_of_name(
    name: str, kind: Kind, d: int, hidden: Sequence[int] = HIDDEN, width: int = WIDTH
) -> dict[str, Any]:
    """The spec that a name stands for; ``auto`` is the paper's choice for the kind of data.

    >>> spec_of_name("auto", "pairs", 8)
    {'name': 'linear', 'kind': 'pairs', 'd': 8}
    """
    if name != "auto" and name not in DISSIMILARITIES:
        raise ValueError(
            f"dissimilarity must be one of auto, {', '.join(DISSIMILARITIES)}, or a "
            f"supclust.dissimilarity.Dissimilarity; received {name!r}."
        )
    if name == "auto":
        name = "mahalanobis" if kind == "vectors" else "linear"
    _check_kind(name, kind)
    spec: dict[str, Any] = {"name": name, "kind": kind, "d": int(d)}
    if name == "encoder":
        spec["widths"] = [int(d), *hidden, int(width)]
    return spec


def build_module(
    spec: Mapping[str, Any], splits: Sequence[int] = (0,), seed: int = 0
) -> Dissimilarity:
    """A freshly initialised dissimilarity of a spec, one model per split."""
    name = spec["name"]
    if name == CUSTOM:
        raise ValueError(
            f"the dissimilarity of this model is {spec.get('class', name)}, which cannot be built "
            "from its name. Load the model with dissimilarity=..., made as it was for training."
        )
    if name not in DISSIMILARITIES:
        raise ValueError(
            f"the dissimilarity of this model is {name!r}, which no installed package registers "
            f"under the entry points {DISSIMILARITIES.group!r}. Install the package that has it, "
            "or load the model in Python with dissimilarity=..., made as it was for training."
        )
    chosen = DISSIMILARITIES.load(name)
    if name == "encoder":
        from supclust.dissimilarity.encoder import perceptron

        module = chosen(lambda: perceptron(spec["widths"]), splits=splits, seed=seed)
        return cast("Dissimilarity", module)
    make = partial(chosen, **spec.get("arguments", {}))
    return build_class(make, spec["kind"], spec["d"], splits, seed)


def build_class(
    make: Callable[..., Any], kind: Kind, d: int, splits: Sequence[int], seed: int
) -> Dissimilarity:
    """Call the class of a dissimilarity with ``d``, ``splits``, ``seed`` and, if it takes it, kind.

    Args:
        make: class, or a `functools.partial` of it.
        kind: of the features.
        d: their number.
        splits: one model each.
        seed: of the initial values.
    """
    _check_kind(getattr(getattr(make, "func", make), "name", CUSTOM), kind)
    more = {"kind": kind} if "kind" in signature(make).parameters else {}
    return cast("Dissimilarity", make(d=d, splits=splits, seed=seed, **more))


def scores_pairs(name: str) -> bool:
    """Whether a registered class also scores pair features: it then takes the argument `kind`.

    >>> scores_pairs("linear"), scores_pairs("mahalanobis")
    (True, False)
    """
    return "kind" in signature(DISSIMILARITIES.load(name)).parameters


def _check_kind(name: str, kind: Kind) -> None:
    if kind == "pairs" and name in ("mahalanobis", "encoder"):
        raise ValueError(
            f"dissimilarity {name!r} works on points; received features of pairs. "
            "Use 'auto' or 'linear'."
        )


def spec_of_module(dissimilarity: Dissimilarity, kind: Kind, d: int) -> dict[str, Any]:
    """The spec of a dissimilarity, so that `build_module` builds it again where that is possible.

    Args:
        dissimilarity: any.
        kind: of the features it works on.
        d: their number.
    """
    cls, spec = type(dissimilarity), {"kind": kind, "d": int(d)}
    if cls.name == "encoder" and is_registered(dissimilarity):
        widths = _widths(cast("Encoder", dissimilarity).form)
        if widths is not None:
            return {"name": "encoder", **spec, "widths": widths}
    elif cls.name in ("mahalanobis", "linear") and is_registered(dissimilarity):
        return {"name": cls.name, **spec}
    return {"name": CUSTOM, **spec, "class": f"{cls.__module__}.{cls.__qualname__}"}


def is_registered(dissimilarity: Dissimilarity) -> bool:
    """Whether the class of a module is the one that its name is registered for."""
    cls = type(dissimilarity)
    return cls.name in DISSIMILARITIES and DISSIMILARITIES.load(cls.name) is cls


def _widths(network: nn.Module) -> list[int] | None:
    """Widths of a network as `perceptron` makes it; ``None`` for any other."""
    from torch import nn

    if type(network) is not nn.Sequential:
        return None
    kinds = [type(layer) for layer in network]
    if kinds != [nn.Linear if i % 2 == 0 else nn.ReLU for i in range(len(kinds))]:
        return None
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    if len(kinds) % 2 == 0 or any(layer.bias is None for layer in linear):
        return None
    return [linear[0].in_features, *(layer.out_features for layer in linear)]


def weights_of(dissimilarity: Dissimilarity, position: int = 0) -> dict[str, NDArray[Any]]:
    """Weights of one of the models; buffers of a network are shared by all of them."""
    state = {name: tensor.detach().cpu() for name, tensor in dissimilarity.state_dict().items()}
    weights = {name: t[position].numpy() for name, t in state.items() if _is_per_split(name)}
    shared = {name for name, _ in dissimilarity.named_buffers() if not _is_per_split(name)}
    arrays = weights | {name: state[name].numpy() for name in shared}
    return {name: np.array(array) for name, array in arrays.items()}


def set_weights(dissimilarity: Dissimilarity, models: Sequence[Weights]) -> None:
    """Put the `weights_of` S models into a dissimilarity of S models, in their precision.

    Raises:
        ValueError: the shapes differ.
    """
    import torch

    floats = [a.dtype for a in models[0].values() if np.issubdtype(a.dtype, np.floating)]
    dissimilarity.to(torch.float64 if np.float64 in floats else torch.float32)
    state = dissimilarity.state_dict()
    expected = {name: tuple(t.shape[1:]) for name, t in state.items() if _is_per_split(name)}
    for weights in models:
        received = {name: a.shape for name, a in weights.items() if _is_per_split(name)}
        if dissimilarity.n_splits != len(models) or expected != received:
            raise ValueError(
                f"the weights do not fit {type(dissimilarity).__name__}: it has "
                f"{_shapes(expected)}; received {_shapes(received)}. "
                "Make it with the same arguments as for training."
            )
    for name in models[0]:
        per_split = _is_per_split(name)
        values = np.stack([w[name] for w in models]) if per_split else models[0][name]
        state[name].copy_(torch.from_numpy(np.array(values)))


def _is_per_split(name: str) -> bool:
    """Whether a tensor has an axis of splits: all but those of an encoder's template network."""
    return not name.startswith("form.")


def _shapes(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in shapes.items()) or "none"


def in_precision(weights: Mapping[str, NDArray[Any]], bits: int) -> Weights:
    """Weights with floats of 32 or 64 bits."""
    floats = np.float64 if bits == 64 else np.float32
    return {
        name: array.astype(floats) if array.dtype.kind == "f" else array
        for name, array in weights.items()
    }
