"""explink_loss against autograd through its definition, and what it promises beside the value."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import generators
from oracles import losses as oracle
from supclust.losses import explink_loss, explink_losses

INF = math.inf
ALPHAS = [-INF, -20.0, -1.0, 0.0, 0.7, 20.0, INF]
VARIANTS = [
    {"variant": variant, "competitors": competitors, "reduction": reduction}
    for variant, competitors, reduction in product(
        ("ranking", "threshold"), ("all", "adjacent"), ("sum", "mean")
    )
]
KERNELS = pytest.mark.parametrize("kernel", ["cpu", "device"])
RECIPE: dict[str, Any] = {
    "variant": "threshold",
    "threshold": 2.0,
    "margin": 0.3,
    "competitors": "adjacent",
    "reduction": "mean",
}


def problem(family: str, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return generators.FAMILIES[family](n, np.random.default_rng(seed))


def scale_of(D: np.ndarray) -> float:
    return float(np.abs(D[np.isfinite(D)]).max(initial=0.0))


def hinge_for(D: np.ndarray) -> dict[str, float]:
    """Threshold and margin in the middle of the data, so that both kinds of term are active."""
    finite = D[np.isfinite(D) & ~np.eye(len(D), dtype=bool)]
    return {"threshold": float(np.median(finite)), "margin": 0.2 * float(finite.std())}


def ours(
    D: np.ndarray | torch.Tensor, labels: np.ndarray, alpha: float, **options: Any
) -> tuple[float, np.ndarray, float]:
    """Value, gradient per unordered pair and gradient in alpha."""
    D = torch.as_tensor(D).clone().requires_grad_(True)
    a = torch.tensor(alpha, dtype=torch.float64, requires_grad=True)
    loss = explink_loss(D, torch.as_tensor(labels), a, **options)
    in_D, in_alpha = torch.autograd.grad(loss, [D, a])
    assert torch.equal(in_D, in_D.mT)  # half in either triangle
    return loss.item(), oracle.pair_gradient(in_D), in_alpha.item()


def assert_same(
    mine: tuple[float, np.ndarray, float],
    reference: tuple[float, np.ndarray, float],
    scale: float,
    tolerance: float = 1e-9,
) -> None:
    np.testing.assert_allclose(mine[0], reference[0], rtol=tolerance, atol=tolerance * scale)
    np.testing.assert_allclose(mine[1], reference[1], rtol=tolerance, atol=tolerance)
    bound = tolerance * max(1.0, scale)
    np.testing.assert_allclose(mine[2], reference[2], rtol=tolerance, atol=bound)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(
    "family",
    ["random", "negative", "single_outlier", "faces_like", "tiny_values", "huge_values"],
)
def test_value_and_gradients_follow_the_definition(family: str, alpha: float) -> None:
    D, labels = problem(family, 10)
    scale, hinge = scale_of(D), hinge_for(D)
    gaps = oracle.decision_gaps(torch.tensor(D), labels.tolist(), alpha, **hinge)
    assert min(gaps) > 1e-9 * scale, "an ill-posed problem tests nothing: take another seed"
    violations = 0
    for options in VARIANTS:
        reference = oracle.value_and_gradients(
            oracle.explink_loss, D, labels.tolist(), alpha=alpha, **options, **hinge
        )
        violations += reference[0] > 0
        assert_same(ours(D, labels, alpha, **options, **hinge), reference, scale)
    assert violations >= 4  # of the eight variants


@pytest.mark.parametrize("alpha", [-INF, INF])
@pytest.mark.parametrize("family", sorted(generators.TIED))
def test_ties_are_broken_as_documented(family: str, alpha: float) -> None:
    """Minimum and maximum do not round, so every tie is exact and the rule decides alone."""
    for seed in range(3):
        D, labels = problem(family, 9, seed)
        hinge = hinge_for(D)
        for options in VARIANTS:
            reference = oracle.value_and_gradients(
                oracle.explink_loss, D, labels.tolist(), alpha=alpha, **options, **hinge
            )
            assert_same(ours(D, labels, alpha, **options, **hinge), reference, scale_of(D))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("family", sorted(generators.TIED))
def test_with_ties_the_value_is_one_of_greedy_hac(family: str, alpha: float) -> None:
    for seed in range(3):
        D, labels = problem(family, 6, seed)
        tolerance = 1e-9 * scale_of(D)
        possible = np.array(
            oracle.tie_broken_losses(torch.tensor(D), labels.tolist(), alpha, tolerance)
        )
        value, gradient, _ = ours(D, labels, alpha)
        assert np.abs(possible - value).min() <= 1e-9 * scale_of(D)
        assert np.isfinite(gradient).all()


@KERNELS
@pytest.mark.parametrize("alpha", [-INF, INF])
@pytest.mark.parametrize("family", [*sorted(generators.TIED), "random"])
def test_every_tied_pair_can_have_the_whole_gradient(
    family: str, alpha: float, kernel: str
) -> None:
    """With alpha infinite; the value stays what it is."""
    more = 0.0
    for seed in range(3):
        D, labels = problem(family, 9, seed)
        hinge = hinge_for(D)
        for options in VARIANTS:
            reference = oracle.value_and_gradients(
                oracle.explink_loss, D, labels.tolist(), alpha=alpha, ties="every", **options,
                **hinge,
            )  # fmt: skip
            mine = ours(D, labels, alpha, ties="every", kernel=kernel, **options, **hinge)
            assert_same(mine, reference, scale_of(D))
            one = ours(D, labels, alpha, kernel=kernel, **options, **hinge)
            assert mine[0] == one[0]
            more += np.abs(mine[1] - one[1]).sum()
    if family in ("integer_grid", "random"):
        assert (more > 0) == (family == "integer_grid")


@KERNELS
def test_ties_do_not_matter_to_a_finite_alpha(kernel: str) -> None:
    D, labels = problem("integer_grid", 12)
    for mine, other in zip(
        ours(D, labels, -0.5, kernel=kernel, ties="every"),
        ours(D, labels, -0.5, kernel=kernel),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, other)


@KERNELS
@pytest.mark.parametrize("alpha", [-INF, INF])
def test_ties_of_arbitrary_matrices_are_broken_as_documented(kernel: str, alpha: float) -> None:
    """Three values and no triangle inequality: a union may tie with the nearest of a third."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        D = generators.symmetric(rng.integers(1, 4, size=(9, 9)).astype(np.float64))
        labels = rng.integers(0, 2, size=9)
        reference = oracle.value_and_gradients(
            oracle.explink_loss, D, labels.tolist(), alpha=alpha, competitors="adjacent"
        )
        mine = ours(D, labels, alpha, competitors="adjacent", kernel=kernel)
        assert_same(mine, reference, scale_of(D))


@KERNELS
def test_a_union_that_ties_with_the_nearest_comes_first(kernel: str) -> None:
    """After 1 and 3 have merged, 0 is as near to them as to 2, and 1 comes before 2."""
    D = torch.full((5, 5), 5.0)
    for i, j, value in [
        (1, 3, 1.0),
        (0, 2, 2.0),
        (0, 3, 2.0),
        (0, 1, 3.0),
        (1, 2, 3.0),
        (2, 3, 3.0),
    ]:
        D[i, j] = D[j, i] = value
    D[2, 4] = D[4, 2] = 0.0
    loss = explink_loss(D, [0, 0, 0, 0, 1], -INF, competitors="adjacent", kernel=kernel)
    assert loss == 2.0  # 2 meets the stranger in the last round only; merged with 0 it would twice


@KERNELS
def test_equal_linkages_are_no_violation(kernel: str) -> None:
    """The threshold term jumps where Psi = h, so a rounding error below it must not count."""
    _, labels = problem("all_equal", 12)
    D = np.where(labels[:, None] == labels, 0.7, 0.7 - 3e-16)
    options = {"variant": "threshold", "threshold": 0.7, "margin": 0.2, "kernel": kernel}
    merges = 12 - len(set(labels.tolist()))
    for alpha in ALPHAS:
        value, gradient, _ = ours(D, labels, alpha, **options)
        assert value == pytest.approx(0.2 * merges)
        assert (gradient[labels[:, None] != labels] == 0).all()
    D = np.where(labels[:, None] == labels, 0.7, 0.7 - 1e-9)
    assert ours(D, labels, 0.0, **options)[0] > 0.2 * merges + 0.1


@KERNELS
@pytest.mark.parametrize("alpha", ALPHAS)
def test_infinite_dissimilarities_follow_the_definition(kernel: str, alpha: float) -> None:
    infinite = 0
    for seed in range(6):
        D, labels = problem("with_infinite", 8, seed)
        for options in VARIANTS[::2]:
            options = {**options, **hinge_for(D)}
            reference = oracle.value_and_gradients(
                oracle.explink_loss, D, labels.tolist(), alpha=alpha, **options
            )
            infinite += math.isinf(reference[0])
            mine = ours(D, labels, alpha, **options, kernel=kernel)
            assert_same(mine, reference, scale_of(D))
            assert (mine[1][np.isinf(np.triu(D, 1))] == 0).all()
    assert infinite > 0


@KERNELS
@pytest.mark.parametrize("alpha", [-0.5, 0.0, 2.0])
def test_gradcheck_over_a_ragged_batch(kernel: str, alpha: float) -> None:
    blocks = [problem("negative", 6, seed) for seed in range(2)]
    batch = torch.stack([torch.tensor(D) for D, _ in blocks]).requires_grad_(True)
    labels = torch.stack([torch.tensor(labels) for _, labels in blocks])
    alphas = torch.tensor([alpha, alpha + 0.3], dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([6, 5])

    def losses(D: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
        D = (D + D.mT) / 2  # gradcheck moves one entry at a time
        return explink_losses(
            D, labels, a, variant="threshold", threshold=0.1, margin=0.2, lengths=lengths,
            kernel=kernel,
        )  # fmt: skip

    assert torch.autograd.gradcheck(losses, (batch, alphas))


@pytest.mark.parametrize("alpha", [-5.0, 5.0])
@KERNELS
def test_faces_scale_stays_finite_in_float32(kernel: str, alpha: float) -> None:
    exact, labels = problem("faces_like", 24)
    D = torch.tensor(exact, dtype=torch.float32)
    assert torch.exp(5 * D).isinf().any()  # what the formula as written would do
    assert D.median() > 1000
    for options in VARIANTS:
        options = {**options, **hinge_for(exact), "kernel": kernel}
        value, gradient, in_alpha = ours(D, labels, alpha, **options)
        reference = ours(D.double(), labels, alpha, **options)
        assert value == pytest.approx(reference[0], rel=1e-5)
        np.testing.assert_allclose(gradient, reference[1], rtol=1e-5, atol=1e-6)
        assert math.isfinite(in_alpha)


def test_linear_and_logarithmic_weights_agree() -> None:
    """The kernel changes form where exp may overflow; nothing may be seen of it."""
    D, labels = problem("faces_like", 20)
    spread = D.max() - D[D > 0].min()
    edge = 2 * (600 - 2 * math.log(20)) / spread
    below, above = (ours(D, labels, edge * factor) for factor in (1 - 1e-9, 1 + 1e-9))
    assert_same(below, above, scale_of(D), tolerance=1e-6)


def ragged(family: str, lengths: list[int], n: int) -> tuple[torch.Tensor, torch.Tensor]:
    batch = torch.full((len(lengths), n, n), math.nan, dtype=torch.float64)
    labels = torch.full((len(lengths), n), -77)
    for k, length in enumerate(lengths):
        if length:
            D, truth = problem(family, length, seed=k)
            batch[k, :length, :length] = torch.tensor(D)
            labels[k, :length] = torch.tensor(truth)
    return batch, labels


LENGTHS = [9, 0, 1, 2, 12, 7]


@pytest.mark.parametrize("family", ["random", "integer_grid", "duplicated", "with_infinite"])
@pytest.mark.parametrize("alpha", [-INF, -1.0, 0.0, 20.0, INF])
def test_device_kernel_equals_host_kernel(family: str, alpha: float) -> None:
    """Also on ties: both break them alike."""
    batch, labels = ragged(family, LENGTHS, 12)
    hinge = hinge_for(batch[4].numpy())
    for options in (VARIANTS[0], VARIANTS[3], VARIANTS[5], VARIANTS[6]):
        results = []
        for kernel in ("cpu", "device"):
            D = batch.clone().requires_grad_(True)
            alphas = torch.full((6,), alpha, dtype=torch.float64, requires_grad=True)
            losses = explink_losses(
                D, labels, alphas, **options, **hinge, lengths=torch.tensor(LENGTHS), kernel=kernel
            )
            results.append((losses.detach(), *torch.autograd.grad(losses.sum(), [D, alphas])))
        for host, device in zip(*results, strict=True):
            torch.testing.assert_close(device, host, rtol=1e-9, atol=1e-10)


@KERNELS
def test_a_batch_equals_its_blocks_apart_and_padding_changes_nothing(kernel: str) -> None:
    batch, labels = ragged("random", LENGTHS, 15)
    D = batch.requires_grad_(True)
    alphas = torch.linspace(-2.0, 2.0, 6, dtype=torch.float64).requires_grad_(True)
    lengths = torch.tensor(LENGTHS)
    together = explink_losses(D, labels, alphas, **RECIPE, lengths=lengths, kernel=kernel)
    weights = torch.arange(1.0, 7.0, dtype=torch.float64)
    in_D, in_alphas = torch.autograd.grad((together * weights).sum(), [D, alphas])
    assert (together > 0).sum() >= 3
    for k, length in enumerate(LENGTHS):
        if length == 0:
            assert together[k] == 0 and (in_D[k] == 0).all()
            continue
        alone = batch[k, :length, :length].detach().requires_grad_(True)
        alpha = alphas[k].detach().requires_grad_(True)
        loss = explink_loss(alone, labels[k, :length], alpha, **RECIPE, kernel=kernel)
        in_alone, in_alpha = torch.autograd.grad(loss * weights[k], [alone, alpha])
        torch.testing.assert_close(together[k], loss, rtol=1e-12, atol=0.0)
        torch.testing.assert_close(in_D[k, :length, :length], in_alone, rtol=1e-12, atol=1e-15)
        torch.testing.assert_close(in_alphas[k], in_alpha, rtol=1e-12, atol=1e-15)
        assert (in_D[k, length:] == 0).all() and (in_D[k, :, length:] == 0).all()


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    batch, labels = ragged("random", [11] * 20, 11)
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SUPCLUST_THREADS", threads)
        D = batch.clone().requires_grad_(True)
        losses = explink_losses(D, labels, -0.5)
        losses.sum().backward()
        results.append((losses.detach(), D.grad))
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])


@KERNELS
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(
    "labels",
    [[3], [0, 1], [0, 1, 2, 3, 4], [5, 5, 5, 5]],
    ids=["one point", "two clusters of one", "all singletons", "one cluster"],
)
def test_degenerate_blocks_give_zero(kernel: str, alpha: float, labels: list[int]) -> None:
    n = len(labels)
    D = torch.tensor(problem("random", n)[0])
    for options, threshold in product(VARIANTS, (-1e6, 1e6)):
        value, gradient, in_alpha = ours(
            D, np.array(labels), alpha, **options, threshold=threshold, margin=1.0, kernel=kernel
        )
        assert value == 0 and (gradient == 0).all() and in_alpha == 0


@KERNELS
def test_zero_loss_has_zero_gradient_without_nan(kernel: str) -> None:
    D, labels = problem("separated", 12)
    for alpha in ALPHAS:
        value, gradient, in_alpha = ours(D, labels, alpha, kernel=kernel)
        assert value == 0 and (gradient == 0).all() and in_alpha == 0
    assert explink_loss(torch.zeros(4, 4), [0, 0, 1, 1], -1.0, kernel=kernel) == 0


def test_alpha_in_every_form() -> None:
    D, labels = (torch.tensor(x) for x in problem("random", 9))
    expected = explink_loss(D, labels, -0.5)
    for alpha in (torch.tensor(-0.5), torch.tensor([-0.5]), torch.nn.Parameter(torch.tensor(-0.5))):
        assert explink_loss(D, labels, alpha) == expected
    alpha = torch.tensor(-0.5, requires_grad=True)  # float32, as a module's parameter is
    explink_loss(D, labels, alpha).backward()
    assert alpha.grad is not None and alpha.grad.dtype == torch.float32 and alpha.grad != 0
    assert explink_loss(D, labels, -1) == explink_loss(D, labels, -1.0)


def test_result_has_the_dtype_of_the_input_and_leaves_it_alone() -> None:
    D, labels = (torch.tensor(x) for x in problem("random", 9))
    before = D.clone()
    for kernel in ("cpu", "device"):
        single = explink_loss(D.float(), labels, -1.0, kernel=kernel)
        assert single.dtype == torch.float32
        torch.testing.assert_close(
            single.double(), explink_loss(D, labels, -1.0), rtol=1e-5, atol=0
        )
    assert torch.equal(D, before)
    for dtype in (torch.int32, torch.uint8):
        assert explink_loss(D, labels.to(dtype), -1.0) == explink_loss(D, labels, -1.0)
    assert explink_loss(D, labels.tolist(), -1.0) == explink_loss(D, labels, -1.0)
    # Names of clusters decide the order in which terms are added, so only rounding may differ.
    renamed = explink_loss(D, labels * -1000, -1.0)
    torch.testing.assert_close(renamed, explink_loss(D, labels, -1.0), rtol=1e-14, atol=0)


@KERNELS
def test_without_gradient_the_value_is_the_same(kernel: str) -> None:
    D, labels = (torch.tensor(x) for x in problem("random", 9))
    with_gradient = explink_loss(D.requires_grad_(True), labels, -1.0, **RECIPE, kernel=kernel)
    with torch.no_grad():
        without = explink_loss(D, labels, -1.0, **RECIPE, kernel=kernel)
    assert with_gradient.requires_grad and not without.requires_grad
    assert without == with_gradient


@KERNELS
def test_rounding_asymmetry_and_the_diagonal_are_let_through(kernel: str) -> None:
    D, labels = (torch.tensor(x) for x in problem("random", 9))
    expected = explink_loss(D, labels, -1.0, kernel=kernel)
    noisy = D + torch.triu(torch.full_like(D, 1e-12))
    noisy.fill_diagonal_(math.nan)
    noisy.requires_grad_(True)
    loss = explink_loss(noisy, labels, -1.0, kernel=kernel)
    torch.testing.assert_close(loss, expected)
    loss.backward()
    assert noisy.grad is not None and torch.equal(noisy.grad, noisy.grad.mT)


@KERNELS
def test_second_derivatives_are_refused(kernel: str) -> None:
    D, labels = (torch.tensor(x) for x in problem("random", 7))
    D.requires_grad_(True)
    loss = explink_loss(D, labels, -1.0, kernel=kernel)
    (gradient,) = torch.autograd.grad(loss, D, create_graph=True)
    with pytest.raises(
        RuntimeError, match="differentiated once; received a request for its second"
    ):
        gradient.square().sum().backward()


def test_backward_twice_accumulates() -> None:
    D, labels = (torch.tensor(x) for x in problem("random", 7))
    D.requires_grad_(True)
    loss = explink_loss(D, labels, -1.0)
    loss.backward(retain_graph=True)
    assert D.grad is not None
    once = D.grad.clone()
    loss.backward()
    torch.testing.assert_close(D.grad, 2 * once)


def spoiled(value: float, mirror: bool = True) -> torch.Tensor:
    D = torch.tensor(problem("random", 4)[0])
    D[1, 2] = value
    if mirror:
        D[2, 1] = value
    return D


@KERNELS
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dissimilarity": spoiled(math.nan)}, r"neither NaN nor -inf; received nan at \[1, 2\]"),
        ({"dissimilarity": spoiled(-INF)}, "neither NaN nor -inf; received -inf"),
        ({"dissimilarity": spoiled(9.0, mirror=False)}, r"must be symmetric; received 9.0 at"),
        ({"dissimilarity": spoiled(INF, mirror=False)}, "must be symmetric; received inf"),
        ({"dissimilarity": torch.zeros(3, 4)}, r"must be square.*received shape \(3, 4\)"),
        ({"labels": [0, 1, 1]}, r"labels must have shape \(4,\).*received \(3,\)"),
        ({"labels": torch.zeros(1, 4).long()}, r"labels must have shape \(4,\)"),
        ({"labels": torch.zeros(4)}, "labels must be integers; received torch.float32"),
        ({"lengths": torch.tensor([5])}, "lengths must lie between"),
        ({"alpha": math.nan}, "alpha must be a number from -inf to inf; received nan"),
        ({"alpha": torch.zeros(2)}, r"alpha must be one number or have shape \(1,\)"),
        ({"variant": "hinge"}, "variant must be one of ranking, threshold; received 'hinge'"),
        ({"competitors": "some"}, "competitors must be one of all, adjacent; received 'some'"),
        ({"reduction": "none"}, "reduction must be one of sum, mean; received 'none'"),
        ({"variant": "threshold"}, "needs both threshold and margin; received threshold=None"),
        ({"variant": "threshold", "threshold": 1.0}, "received threshold=1.0 and margin=None"),
        ({"variant": "threshold", "threshold": INF, "margin": 1.0}, "must be finite; received inf"),
        ({"kernel": "gpu"}, "kernel must be one of auto, cpu, device; received 'gpu'"),
    ],
)
def test_refuses(kernel: str, arguments: dict[str, Any], message: str) -> None:
    valid = {"dissimilarity": spoiled(1.0), "labels": [0, 0, 1, 1], "alpha": 0.0, "kernel": kernel}
    explink_loss(**valid)
    with pytest.raises(ValueError, match=message):
        explink_loss(**(valid | arguments))


def test_a_bad_block_is_named() -> None:
    batch = torch.stack([spoiled(1.0), spoiled(math.nan)])
    for kernel in ("cpu", "device"):
        with pytest.raises(ValueError, match="block 1: dissimilarities"):
            explink_loss(batch, torch.zeros(2, 4).long(), 0.0, kernel=kernel)


def test_auto_follows_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU tensors go to the compiled kernel, so without it `auto` must fail and `device` not."""
    monkeypatch.delattr("supclust.losses.cpu.explink.solve")
    explink_loss(spoiled(1.0), [0, 0, 1, 1], 0.0, kernel="device")
    with pytest.raises(ImportError, match="solve"):
        explink_loss(spoiled(1.0), [0, 0, 1, 1], 0.0)
