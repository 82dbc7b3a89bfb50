"""`Encoder`: any network that embeds points, then Euclidean distance."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from supclust.dissimilarity.base import Dissimilarity, Inputs
from supclust.dissimilarity.euclidean import pairwise_distances


class Encoder(Dissimilarity):
    """f(x, x') = |g(x) - g(x')|_2 with a learned network g per split.

    Args:
        network: a function that makes a freshly initialised network, called once per split under a
            seed of its own; or a network, whose values every split starts from. It maps
            (..., n, *point) to (..., n, k). Default: a perceptron, which needs ``d``.
        splits: numbers of the splits, one model each. Several models at once run under
            ``torch.vmap``, which excludes networks with state of their own (batch normalisation).
        seed: of the initial values.
        d: features of a point, for the default network.
        hidden: widths of its hidden layers.
        width: of its embedding.

    >>> model = Encoder(lambda: nn.Linear(2, 8), splits=(0, 1))
    >>> model(torch.zeros(2, 3, 2), split_of_block=torch.tensor([1, 0])).shape
    torch.Size([2, 3, 3])
    """

    name: ClassVar[str] = "encoder"

    def __init__(
        self,
        network: nn.Module | Callable[[], nn.Module] | None = None,
        splits: Sequence[int] = (0,),
        seed: int = 0,
        *,
        d: int | None = None,
        hidden: Sequence[int] = (64,),
        width: int = 20,
    ) -> None:
        super().__init__(splits, seed)
        if network is None:
            if d is None:
                raise ValueError(
                    "an encoder needs a network, or d, the features of a point; received neither. "
                    "Pass e.g. network=lambda: nn.Linear(20, 8), or d=20."
                )
            network = partial(perceptron, (d, *hidden, width))
        networks = [_made(network, seed, split) for split in self.splits]
        self.names = tuple(name for name, _ in networks[0].named_parameters())
        self.stacked = nn.ParameterList(
            nn.Parameter(torch.stack([net.get_parameter(name).detach() for net in networks]))
            for name in self.names
        )  # each (S, ...)
        # Gives the computation and holds any buffers; its own parameters are never used. Saved
        # models have its buffers under this name.
        self.form = copy.deepcopy(networks[0]).requires_grad_(False)
        if self.n_splits > 1 and next(self.form.buffers(), None) is not None:
            raise ValueError(
                f"several models at once need a network without buffers; received "
                f"{type(self.form).__name__} with some (batch normalisation?). "
                "Train one split at a time, or use layer normalisation."
            )

    def score(self, inputs: Inputs) -> Tensor:
        """Distances of every block."""
        return pairwise_distances(self._embed(inputs), inputs.anchors)

    def _embed(self, inputs: Inputs) -> Tensor:
        """(b, n, k) embeddings of (b, n, *point)."""
        points, models = inputs.points(), self.models_of(inputs)
        network = self.form
        if self.n_splits == 1:
            alone = {name: p[0] for name, p in zip(self.names, self.stacked, strict=True)}
            embedded: Tensor = functional_call(network, alone, (points,))
            return embedded
        chosen = {
            name: p.index_select(0, models)
            for name, p in zip(self.names, self.stacked, strict=True)
        }  # each (b, ...)
        result: Tensor = vmap(
            lambda values, block: functional_call(network, values, (block,)),
            randomness="different",
        )(chosen, points)
        return result


def perceptron(widths: Sequence[int]) -> nn.Module:
    """Linear layers of these widths with a ReLU between two."""
    layers: list[nn.Module] = []
    for first, second in pairwise(widths):
        layers += [nn.Linear(first, second), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _made(network: nn.Module | Callable[[], nn.Module], seed: int, split: int) -> nn.Module:
    if isinstance(network, nn.Module):
        return network
    state = np.random.SeedSequence([seed, split]).generate_state(1, np.uint64)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(state[0]))
        made = network()
    if not isinstance(made, nn.Module):
        raise ValueError(
            f"network must be an nn.Module or a function that makes one; received a function that "
            f"made {type(made).__name__}. Pass e.g. lambda: nn.Linear(20, 8)."
        )
    return made
