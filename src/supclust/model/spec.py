"""The form of a dissimilarity as plain values: enough to build it again before its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from supclust.data.block import Kind
from supclust.dissimilarity import Dissimilarity, Encoder, LinearPair, Mahalanobis
from supclust.dissimilarity.encoder import perceptron
from supclust.registry import DISSIMILARITIES

CUSTOM = "custom"
"""Form of a dissimilarity that only its author can build."""
HIDDEN, WIDTH = (64,), 20
"""Of an encoder asked for by name: hidden layers and embedding, as in conf/dissimilarity."""


def form_of_name(
    name: str, kind: Kind, d: int, hidden: Sequence[int] = HIDDEN, width: int = WIDTH
) -> dict[str, Any]:
    """The form that a name stands for; ``auto`` is the paper's choice for the kind of data.

    >>> form_of_name("auto", "pairs", 8)
    {'name': 'linear', 'kind': 'pairs', 'd': 8}
    """
    if name != "auto" and name not in DISSIMILARITIES:
        raise ValueError(
            f"dissimilarity must be one of auto, {', '.join(DISSIMILARITIES)}, or a "
            f"supclust.dissimilarity.Dissimilarity; received {name!r}."
        )
    if name == "auto":
        name = "mahalanobis" if kind == "vectors" else "linear"
    if kind == "pairs" and name != "linear":
        raise ValueError(
            f"dissimilarity {name!r} works on points; received features of pairs. "
            "Use 'auto' or 'linear'."
        )
    form: dict[str, Any] = {"name": name, "kind": kind, "d": int(d)}
    if name == "encoder":
        form["widths"] = [int(d), *hidden, int(width)]
    return form


def build_form(form: Mapping[str, Any], splits: Sequence[int] = (0,), seed: int = 0) -> Any:
    """A freshly initialised dissimilarity of a form.

    Returns:
        A `Dissimilarity`, one model per split.
    """
    if form["name"] == "mahalanobis":
        return Mahalanobis(form["d"], splits=splits, seed=seed)
    if form["name"] == "linear":
        return LinearPair(form["d"], kind=form["kind"], splits=splits, seed=seed)
    if form["name"] == "encoder":
        return Encoder(lambda: perceptron(form["widths"]), splits=splits, seed=seed)
    raise ValueError(
        f"the dissimilarity of this model is {form.get('class', form['name'])}, which cannot be "
        "built from its name. Load the model with dissimilarity=..., made as it was for training."
    )


def describe_form(dissimilarity: Dissimilarity, kind: Kind, d: int) -> dict[str, Any]:
    """The form of a dissimilarity, so that `build_form` builds it again where that is possible.

    Args:
        dissimilarity: any.
        kind: of the features it works on.
        d: their number.
    """
    form: dict[str, Any] = {"name": CUSTOM, "kind": kind, "d": int(d)}
    if type(dissimilarity) is Mahalanobis:
        return form | {"name": "mahalanobis"}
    if type(dissimilarity) is LinearPair:
        return form | {"name": "linear"}
    if type(dissimilarity) is Encoder:
        widths = _widths(dissimilarity.form)
        if widths is not None:
            return form | {"name": "encoder", "widths": widths}
    return form | {"class": f"{type(dissimilarity).__module__}.{type(dissimilarity).__qualname__}"}


def _widths(network: nn.Module) -> list[int] | None:
    """Widths of a network as `perceptron` makes it; ``None``: it is another."""
    if type(network) is not nn.Sequential:
        return None
    kinds = [type(layer) for layer in network]
    if kinds != [nn.Linear if i % 2 == 0 else nn.ReLU for i in range(len(kinds))]:
        return None
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    if len(kinds) % 2 == 0 or any(layer.bias is None for layer in linear):
        return None
    return [linear[0].in_features, *(layer.out_features for layer in linear)]


def weights_of(dissimilarity: Dissimilarity, position: int = 0) -> dict[str, Tensor]:
    """State of one model, without the axis of splits; buffers of a network come as they are."""
    state = dissimilarity.state_dict()
    weights = {name: t[position].clone() for name, t in state.items() if is_per_split(name)}
    buffers = {name for name, _ in dissimilarity.named_buffers() if not is_per_split(name)}
    return weights | {name: state[name].clone() for name in buffers}


def set_weights(dissimilarity: Dissimilarity, weights: Mapping[str, Tensor]) -> None:
    """Put the `weights_of` one model into a dissimilarity of one model.

    Raises:
        ValueError: they do not fit.
    """
    state = dissimilarity.state_dict()
    wanted = {name: t.shape[1:] for name, t in state.items() if is_per_split(name)}
    given = {name: t.shape for name, t in weights.items() if is_per_split(name)}
    if dissimilarity.n_splits != 1 or wanted != given:
        raise ValueError(
            f"the weights do not fit {type(dissimilarity).__name__}: it has "
            f"{_shapes(wanted)}; received {_shapes(given)}. "
            "Make it with the same arguments as for training."
        )
    for name, value in weights.items():
        state[name].copy_(value)


def is_per_split(name: str) -> bool:
    """Whether a tensor of the state has an axis of splits: all but an encoder's mould."""
    return not name.startswith("form.")


def _shapes(shapes: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {tuple(shape)}" for name, shape in shapes.items()) or "none"
