"""The losses for pytorch-metric-learning: its interface, our numbers."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
import torch
from pytorch_metric_learning.distances import CosineSimilarity, LpDistance
from pytorch_metric_learning.losses import BaseMetricLossFunction
from pytorch_metric_learning.regularizers import LpRegularizer

from oracles import losses as oracle
from supclust.metric_learning import EuclideanDistance, ExpLinkLoss, MSTLoss


@pytest.fixture
def batch() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    embeddings = torch.randn(14, 5, dtype=torch.float64, generator=generator)
    return embeddings, torch.randint(-2, 2, (14,), generator=generator)


def distances(embeddings: torch.Tensor) -> torch.Tensor:
    unit = embeddings / embeddings.norm(dim=1, keepdim=True)
    gaps = unit[:, None] - unit
    return (gaps**2).sum(dim=2).add(torch.eye(len(unit))).sqrt()  # the diagonal is not read


def gradient(loss: torch.Tensor, embeddings: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(loss, embeddings)[0]


@pytest.mark.parametrize("alpha", [-math.inf, -1.0, 0.0, 2.0, math.inf])
@pytest.mark.parametrize("variant", ["ranking", "threshold"])
def test_explink_is_that_of_the_distances(batch, alpha: float, variant: str) -> None:
    embeddings, labels = batch[0].requires_grad_(), batch[1]
    options = {"variant": variant, "reduction": "sum", "competitors": "adjacent"}
    if variant == "threshold":
        options |= {"threshold": 1.0, "margin": 0.2}
    found = ExpLinkLoss(alpha, **options)(embeddings, labels)
    expected = oracle.explink_loss(distances(embeddings), labels.tolist(), alpha, **options)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(gradient(found, embeddings), gradient(expected, embeddings))


@pytest.mark.parametrize("options", [{}, {"threshold": 1.0, "margin": 0.2}])
def test_mst_is_that_of_the_distances(batch, options: dict[str, float]) -> None:
    embeddings, labels = batch[0].requires_grad_(), batch[1]
    found = MSTLoss(**options)(embeddings, labels)
    expected = oracle.mst_loss(distances(embeddings), labels.tolist(), reduction="mean", **options)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(gradient(found, embeddings), gradient(expected, embeddings))


def test_alpha_can_be_learned(batch) -> None:
    loss = ExpLinkLoss(-0.5, learn_alpha=True).double()
    assert [name for name, _ in loss.named_parameters()] == ["alpha"]
    found = loss(*batch)
    _, _, expected = oracle.value_and_gradients(
        oracle.explink_loss, distances(batch[0]), batch[1].tolist(), alpha=-0.5, reduction="mean"
    )
    found.backward()
    assert loss.alpha.grad.item() == pytest.approx(expected)
    with pytest.raises(ValueError, match="start from a finite number"):
        ExpLinkLoss(math.inf, learn_alpha=True)


def test_they_are_losses_of_the_library(batch) -> None:
    plain, regular = ExpLinkLoss(), ExpLinkLoss(embedding_regularizer=LpRegularizer())
    assert isinstance(plain, BaseMetricLossFunction)
    norm = batch[0].norm(dim=1).mean()
    torch.testing.assert_close(regular(*batch), plain(*batch) + norm)
    assert isinstance(plain.distance, LpDistance)


def test_similarities_change_sign(batch) -> None:
    embeddings, labels = batch
    unit = embeddings / embeddings.norm(dim=1, keepdim=True)
    found = ExpLinkLoss(reduction="sum", distance=CosineSimilarity())(embeddings, labels)
    expected = oracle.explink_loss(-unit @ unit.T, labels.tolist(), 0.0)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("loss", [ExpLinkLoss(), MSTLoss(threshold=0.5, margin=0.1)])
@pytest.mark.parametrize("labels", [[0], [0, 0, 0], [0, 1, 2]])
def test_degenerate_batches_and_duplicates_give_finite_gradients(loss, labels: list[int]) -> None:
    embeddings = torch.ones(len(labels), 4, requires_grad=True)
    value = loss(embeddings, torch.tensor(labels))
    if value.requires_grad:
        value.backward()
        assert embeddings.grad.isfinite().all()
    assert value.isfinite()


def test_training_separates_the_labels() -> None:
    torch.manual_seed(0)
    inputs, labels = torch.randn(24, 6), torch.arange(24) % 3
    inputs[:, :2] += 2.0 * torch.nn.functional.one_hot(labels, 3)[:, :2]
    network = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    loss = ExpLinkLoss(learn_alpha=True)
    optimizer = torch.optim.Adam([*network.parameters(), *loss.parameters()], lr=0.01)
    values = []
    for _ in range(60):
        optimizer.zero_grad()
        value = loss(network(inputs), labels)
        value.backward()
        optimizer.step()
        values.append(value.item())
    assert values[-1] < 0.5 * values[0]


def test_half_precision_is_raised() -> None:
    matrix = EuclideanDistance()(torch.randn(5, 3).half())
    assert matrix.dtype == torch.float32


@pytest.mark.parametrize("loss", [ExpLinkLoss(), MSTLoss()])
def test_what_trees_cannot_use_is_refused(loss, batch) -> None:
    embeddings, labels = batch
    one = torch.tensor([0])
    with pytest.raises(ValueError, match="needs labels"):
        loss(embeddings, indices_tuple=(one, one, one))
    with pytest.raises(ValueError, match="takes no mined tuples"):
        loss(embeddings, labels, indices_tuple=(one, one, one))
    with pytest.raises(ValueError, match="reference embeddings"):
        loss(embeddings, labels, ref_emb=embeddings.clone(), ref_labels=labels)


def test_without_the_extra_the_import_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['pytorch_metric_learning'] = None\n"
        "try:\n    import supclust.metric_learning\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "supclust[metric-learning]"' in done.stdout
