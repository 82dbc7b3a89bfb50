"""The training losses, term by term from the text, in float64 torch with autograd.

Gradients. Every function reads only D[i, j] with i < j, so the gradient of the unordered pair
{i, j} sits in the upper triangle and the rest is zero. An implementation may put it in either
triangle or share it between both: compare through `pair_gradient`, which adds the two halves.
Where alpha plays no part (alpha = +-inf, no active term) its gradient is reported as 0.

Infinite dissimilarities. An across pair at +inf is never active, hence harmless. A pure merge at
+inf gives an infinite loss; `inf - inf` is not a violation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import torch

from oracles.hac import cross_values, explink_torch

Cluster = tuple[int, ...]  # its leaves, ascending; its index is the first
Merge = tuple[Cluster, Cluster]


class Round(NamedTuple):
    """One round of training HAC: its pure merge and what it competed against."""

    merge: Merge
    height: torch.Tensor
    pure: dict[Merge, torch.Tensor]  # every live pure pair, the merge included
    impure: dict[Merge, torch.Tensor]  # every live impure pair


class Gaps(NamedTuple):
    """How narrowly the decisions of a loss were taken (inf where there were none)."""

    merge: float  # lowest pure linkage against the second lowest in its round
    hinge: float  # any comparison that made a term active or not


def training_rounds(
    D: torch.Tensor,
    labels: Sequence[int],
    alpha: float | torch.Tensor,
    merges: Sequence[Merge] | None = None,
    every: bool = False,
    strangers: bool = False,
) -> Iterator[Round]:
    """Training HAC of Section 4.3: only pure merges, the globally lowest first.

    Args:
        D: (n, n) dissimilarities.
        labels: n ground-truth labels.
        alpha: linkage parameter.
        merges: follow these pure merges, whatever their linkage, instead of the lowest (ties: the
            pair whose smallest leaves come first).
        every: all pairs that attain a minimum or maximum have its gradient.
        strangers: points with label -1 are of unknown clusters: pairs of two of them are neither
            pure nor impure.
    """
    truth = [int(label) for label in labels]
    clusters: list[Cluster] = [(i,) for i in range(len(truth))]
    while True:
        pure: dict[Merge, torch.Tensor] = {}
        impure: dict[Merge, torch.Tensor] = {}
        for u, v in combinations(sorted(clusters), 2):
            if strangers and truth[u[0]] == truth[v[0]] == -1:
                continue
            psi = explink_torch(cross_values(D, u, v), alpha, every)
            (pure if truth[u[0]] == truth[v[0]] else impure)[u, v] = psi
        if not pure:
            return
        if merges is None:
            merge = min(pure, key=lambda pair: pure[pair].item())  # min keeps the first of equals
        else:
            done = sum(len(cluster) - 1 for cluster in clusters)
            merge = merges[done]
        yield Round(merge, pure[merge], pure, impure)
        u, v = merge
        clusters = [c for c in clusters if c not in merge] + [tuple(sorted(u + v))]


def explink_loss(
    D: torch.Tensor,
    labels: Sequence[int],
    alpha: float | torch.Tensor,
    variant: str = "ranking",
    threshold: float | None = None,
    margin: float | None = None,
    competitors: str = "all",
    reduction: str = "sum",
    merges: Sequence[Merge] | None = None,
    ties: str = "one",
    equal: float = 0.0,
    strangers: bool = False,
) -> torch.Tensor:
    """ExpLink training loss: Eq. 4 (`ranking`) or its form with tau and mu (`threshold`).

    With h the linkage of the pure merge of a round and Psi that of an impure pair alive in it:

    * ranking: a term is active if h - Psi > 0; its value is h - Psi.
    * threshold, pure: active if h > tau - mu; value h - (tau - mu). One per round, whether or not
      an impure pair competes.
    * threshold, impure: active if Psi < h and Psi < tau + mu; value (tau + mu) - Psi.

    `competitors="adjacent"` keeps the impure pairs that share a cluster with the round's pure
    merge. `reduction="mean"` divides the pure part and the impure part each by its number of
    active terms (0 if none); a ranking term belongs to both parts, so their sum is the plain
    mean. Ranking ignores tau and mu.

    A block of one cluster has nothing to tell apart: no term, whatever its merges.

    The values h - (tau - mu) and h - Psi vanish where their term becomes active. The impure
    threshold term does not at Psi = h: there rounding decides on a finite amount (`decision_gaps`),
    unless linkages that differ by at most ``equal`` count as equal.
    """
    check_choice("variant", variant, ("ranking", "threshold"))
    check_choice("competitors", competitors, ("all", "adjacent"))
    if variant == "threshold" and (threshold is None or margin is None):
        raise ValueError("variant 'threshold' needs threshold and margin")
    hinge_terms: list[torch.Tensor] = []
    pure_terms: list[torch.Tensor] = []
    impure_terms: list[torch.Tensor] = []
    for round_ in training_rounds(D, labels, alpha, merges, ties == "every", strangers):
        if len(set(map(int, labels))) == 1:
            continue
        h = round_.height
        rivals = [
            psi
            for pair, psi in round_.impure.items()
            if competitors == "all" or set(pair) & set(round_.merge)
        ]
        if variant == "ranking":
            hinge_terms += [h - psi for psi in rivals if h - psi > 0]
            continue
        low, high = threshold - margin, threshold + margin
        if h > low:
            pure_terms.append(h - low)
        impure_terms += [high - psi for psi in rivals if psi < h - equal and psi < high]
    if variant == "ranking":
        return reduce_terms(D, hinge_terms, reduction)
    return reduce_terms(D, pure_terms, reduction) + reduce_terms(D, impure_terms, reduction)


def decision_gaps(
    D: torch.Tensor,
    labels: Sequence[int],
    alpha: float | torch.Tensor,
    threshold: float | None = None,
    margin: float | None = None,
) -> Gaps:
    """Smallest gap of any decision in `explink_loss`; near 0, correct code may differ from it.

    A small `merge` gap makes the tree itself a matter of taste (see `tie_broken_losses`); a small
    `hinge` gap makes gradients, and for the threshold variant values, a matter of rounding.
    """
    merge_gap = hinge_gap = math.inf
    for round_ in training_rounds(D, labels, alpha):
        h = round_.height.item()
        heights = sorted(psi.item() for psi in round_.pure.values())
        if len(heights) > 1 and heights[1] < math.inf:
            merge_gap = min(merge_gap, heights[1] - heights[0])
        rivals = [psi.item() for psi in round_.impure.values()]
        compared = [(h, psi) for psi in rivals]
        if threshold is not None and margin is not None:
            compared.append((h, threshold - margin))
            compared += [(psi, threshold + margin) for psi in rivals]
        gaps = [0.0 if x == y else abs(x - y) for x, y in compared]
        hinge_gap = min([hinge_gap, *gaps])
    return Gaps(merge_gap, hinge_gap)


def tie_broken_merges(
    D: torch.Tensor, labels: Sequence[int], alpha: float, tolerance: float = 0.0
) -> Iterator[list[Merge]]:
    """Every order of pure merges greedy HAC may take where linkages tie; exponential, tiny n."""
    truth = [int(label) for label in labels]

    def extend(clusters: list[Cluster], done: list[Merge]) -> Iterator[list[Merge]]:
        pure = {
            (u, v): explink_torch(cross_values(D.detach(), u, v), alpha).item()
            for u, v in combinations(sorted(clusters), 2)
            if truth[u[0]] == truth[v[0]]
        }
        if not pure:
            yield done
            return
        lowest = min(pure.values())
        for u, v in [pair for pair, psi in pure.items() if psi <= lowest + tolerance]:
            rest = [c for c in clusters if c not in (u, v)]
            yield from extend([*rest, tuple(sorted(u + v))], [*done, (u, v)])

    return extend([(i,) for i in range(len(truth))], [])


def tie_broken_losses(
    D: torch.Tensor,
    labels: Sequence[int],
    alpha: float,
    tolerance: float = 0.0,
    **options: Any,
) -> list[float]:
    """Sorted distinct values of `explink_loss` over all ways to break ties between pure merges."""
    orders = tie_broken_merges(D, labels, alpha, tolerance)
    return sorted({explink_loss(D, labels, alpha, merges=m, **options).item() for m in orders})


# -- losses on pairs of points -----------------------------------------------------------------


def all_pairs_loss(
    D: torch.Tensor,
    labels: Sequence[int],
    threshold: float | None = None,
    margin: float | None = None,
    reduction: str = "sum",
) -> torch.Tensor:
    """Every unordered within pair down, every across pair up (Section 3.2).

    With tau and mu: sum max(0, f - (tau - mu)) over within + sum max(0, (tau + mu) - f) over
    across pairs. Without: sum f - sum f.
    """
    within, across = [], []
    for i, j in combinations(range(len(labels)), 2):
        (within if labels[i] == labels[j] else across).append((i, j))
    return pair_loss(D, within, across, threshold, margin, reduction)


def triplet_loss(
    D: torch.Tensor,
    triplets: Sequence[tuple[int, int, int]],
    threshold: float | None = None,
    margin: float | None = None,
    reduction: str = "sum",
) -> torch.Tensor:
    """Given triplets (anchor, within, across); one drawn twice counts twice.

    With tau and mu: the within hinge of (a, p) plus the across hinge of (a, n), each triplet.
    Without: max(0, f(a, p) - f(a, n)), the triplet hinge with margin 0, active where positive.
    """
    if threshold is None and margin is None:
        terms = [value(D, a, p) - value(D, a, n) for a, p, n in triplets]
        return reduce_terms(D, [term for term in terms if term > 0], reduction)
    within = [(a, p) for a, p, _ in triplets]
    across = [(a, n) for a, _, n in triplets]
    return pair_loss(D, within, across, threshold, margin, reduction)


def best_loss(
    D: torch.Tensor,
    labels: Sequence[int],
    threshold: float | None = None,
    margin: float | None = None,
    reduction: str = "sum",
) -> torch.Tensor:
    """Every point's nearest within point down and nearest across point up.

    A term per point: a pair that is nearest from both its ends counts twice. Ties: lowest index.
    A point without within (across) points gives no within (across) term.
    """
    n = len(labels)
    within = [nearest(D, i, [j for j in range(n) if labels[j] == labels[i]]) for i in range(n)]
    across = [nearest(D, i, [j for j in range(n) if labels[j] != labels[i]]) for i in range(n)]
    return pair_loss(D, _found(within), _found(across), threshold, margin, reduction)


def mst_loss(
    D: torch.Tensor,
    labels: Sequence[int],
    threshold: float | None = None,
    margin: float | None = None,
    reduction: str = "sum",
) -> torch.Tensor:
    """Edges of each ground-truth cluster's MST down, each point's nearest across point up (Eq. 2).

    Ties between edges: lowest (i, j), i < j. Across terms are per point, as in `best_loss`.
    """
    n = len(labels)
    within: list[tuple[int, int]] = []
    for label in dict.fromkeys(int(x) for x in labels):
        within += kruskal(D, [i for i in range(n) if labels[i] == label])
    across = [nearest(D, i, [j for j in range(n) if labels[j] != labels[i]]) for i in range(n)]
    return pair_loss(D, within, _found(across), threshold, margin, reduction)


def kruskal(D: torch.Tensor, points: Sequence[int]) -> list[tuple[int, int]]:
    """Edges of a minimum spanning tree: cheapest first, skipping those that close a cycle."""
    component = {p: p for p in points}
    edges = []
    candidates = combinations(sorted(points), 2)
    for i, j in sorted(candidates, key=lambda pair: (D[pair].item(), pair)):
        if component[i] == component[j]:
            continue
        edges.append((i, j))
        old, new = component[j], component[i]
        component = {p: new if c == old else c for p, c in component.items()}
    return edges


def nearest(D: torch.Tensor, i: int, others: Sequence[int]) -> tuple[int, int] | None:
    """The pair of i and the nearest of the others, lowest index first; None without others."""
    candidates = [j for j in others if j != i]
    return min(((i, j) for j in candidates), key=lambda p: value(D, *p).item(), default=None)


def pair_loss(
    D: torch.Tensor,
    within: Sequence[tuple[int, int]],
    across: Sequence[tuple[int, int]],
    threshold: float | None,
    margin: float | None,
    reduction: str,
) -> torch.Tensor:
    """Within pairs down, across pairs up: hinged at tau -+ mu, or plain when neither is given.

    Active: within f > tau - mu, across f < tau + mu; every pair in the plain form.
    """
    if (threshold is None) != (margin is None):
        raise ValueError("threshold and margin come together or not at all")
    if threshold is None or margin is None:
        down = [value(D, i, j) for i, j in within]
        up = [-value(D, i, j) for i, j in across]
    else:
        down = [value(D, i, j) - (threshold - margin) for i, j in within]
        up = [(threshold + margin) - value(D, i, j) for i, j in across]
        down, up = [t for t in down if t > 0], [t for t in up if t > 0]
    return reduce_terms(D, down, reduction) + reduce_terms(D, up, reduction)


# -- small parts -------------------------------------------------------------------------------


def value(D: torch.Tensor, i: int, j: int) -> torch.Tensor:
    """Dissimilarity of an unordered pair, from the upper triangle."""
    return D[min(i, j), max(i, j)]


def reduce_terms(D: torch.Tensor, terms: Sequence[torch.Tensor], reduction: str) -> torch.Tensor:
    """Sum of the active terms, or that over their number; a zero attached to D without any."""
    check_choice("reduction", reduction, ("sum", "mean"))
    if not terms:
        return D[:0].sum()
    total = torch.stack(list(terms)).sum()
    return total / len(terms) if reduction == "mean" else total


def check_choice(name: str, chosen: str, allowed: tuple[str, ...]) -> None:
    if chosen not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, got {chosen!r}")


def _found(pairs: Sequence[tuple[int, int] | None]) -> list[tuple[int, int]]:
    return [pair for pair in pairs if pair is not None]


def pair_gradient(gradient: np.ndarray | torch.Tensor) -> np.ndarray:
    """Gradient per unordered pair, in the upper triangle, however it was shared out: g + g.T."""
    g = np.asarray(gradient, dtype=np.float64)
    return np.triu(g + np.swapaxes(g, -1, -2), 1)


def value_and_gradients(
    loss: Callable[..., torch.Tensor],
    D: np.ndarray | torch.Tensor,
    *args: Any,
    alpha: float | None = None,
    **options: Any,
) -> tuple[float, np.ndarray, float]:
    """Value of a loss, its gradient per unordered pair (upper triangle), and that in alpha.

    Call as ``value_and_gradients(explink_loss, D, labels, alpha=-1.0, variant=...)``, or without
    alpha for the pair losses (their gradient in alpha is 0). It also serves other functions of
    the same calling form, such as ``heights`` weighted to a scalar.
    """
    D = torch.as_tensor(np.asarray(D), dtype=torch.float64).clone().requires_grad_(True)
    inputs = [D]
    if alpha is not None:
        a = torch.tensor(float(alpha), dtype=torch.float64, requires_grad=True)
        inputs.append(a)
        options["alpha"] = a
    result = loss(D, *args, **options)
    gradients = torch.autograd.grad(result, inputs, materialize_grads=True)
    in_alpha = gradients[1].item() if alpha is not None else 0.0
    return result.item(), pair_gradient(gradients[0]), in_alpha
