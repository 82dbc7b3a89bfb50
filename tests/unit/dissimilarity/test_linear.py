"""LinearPair against loops, on pair features and points, and its averaged weights."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch

from supclust.dissimilarity import LinearPair


def by_loops(features: torch.Tensor, n: int, weight: torch.Tensor, bias: torch.Tensor):
    rows = [[torch.zeros((), dtype=weight.dtype) for _ in range(n)] for _ in range(n)]
    for pair, (i, j) in zip(features, combinations(range(n), 2), strict=True):
        rows[i][j] = rows[j][i] = (weight * pair).sum() + bias
    return torch.stack([torch.stack(row) for row in rows])


def gaps(points: torch.Tensor) -> torch.Tensor:
    return torch.stack([(x - y).abs() for x, y in combinations(points, 2)])


@pytest.fixture
def entries() -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(2)
    pairs = (10, 3, 0, 6)  # 5, 3, 1 and 4 points
    return tuple(torch.randn(e, 3, dtype=torch.float64, generator=generator) for e in pairs)


def test_shared_pair_features_are_those_of_loops(entries: tuple[torch.Tensor, ...]) -> None:
    model = LinearPair(3, splits=(1, 4, 6)).double()
    rows, splits, points = [0, 1, 0, 3, 2], [2, 0, 1, 2, 2], [5, 3, 5, 4, 1]
    found = model(
        entries, row_of_block=torch.tensor(rows), split_of_block=torch.tensor(splits)
    )  # (5, 5, 5)
    assert found.shape == (5, 5, 5)
    chosen = torch.randn(found.shape, dtype=torch.float64)
    (found * chosen).sum().backward()
    w = model.weight.detach().clone().requires_grad_()
    b = model.bias.detach().clone().requires_grad_()
    total = torch.zeros((), dtype=torch.float64)
    for i, (row, split, n) in enumerate(zip(rows, splits, points, strict=True)):
        expected = by_loops(entries[row], n, w[split], b[split])
        torch.testing.assert_close(found[i, :n, :n], expected)
        assert not found[i, n:].any() and not found[i, :, n:].any()
        total = total + (expected * chosen[i, :n, :n]).sum()
    total.backward()
    torch.testing.assert_close(model.weight.grad, w.grad)
    torch.testing.assert_close(model.bias.grad, b.grad)


def test_padded_pair_features_equal_ragged_ones(entries: tuple[torch.Tensor, ...]) -> None:
    model = LinearPair(3).double()
    padded = torch.nn.utils.rnn.pad_sequence(list(entries), batch_first=True, padding_value=9.0)
    found = model(padded, lengths=torch.tensor([5, 3, 1, 4]))
    torch.testing.assert_close(found, model(entries))


def test_points_go_in_by_the_size_of_their_differences() -> None:
    model = LinearPair(4, kind="vectors", splits=(0, 1)).double()
    points = torch.randn(3, 5, 4, dtype=torch.float64)
    splits = torch.tensor([1, 0, 1])
    found = model(points, split_of_block=splits)
    chosen = torch.randn(found.shape, dtype=torch.float64)
    (found * chosen).sum().backward()
    w = model.weight.detach().clone().requires_grad_()
    b = model.bias.detach().clone().requires_grad_()
    expected = torch.stack(
        [by_loops(gaps(points[i]), 5, w[s], b[s]) for i, s in enumerate(splits.tolist())]
    )
    torch.testing.assert_close(found, expected)
    (expected * chosen).sum().backward()
    torch.testing.assert_close(model.weight.grad, w.grad)
    torch.testing.assert_close(model.bias.grad, b.grad)


def test_evaluation_uses_the_average_of_all_updates(entries: tuple[torch.Tensor, ...]) -> None:
    model = LinearPair(3, splits=(0, 1)).double()
    split_of_block = torch.tensor([0, 1, 0, 1])
    start = model.weight.detach().clone()
    seen: list[list[torch.Tensor]] = [[], []]
    moves = [(True, True), (True, False), (True, True), (False, True), (True, False)]
    for active in moves:
        with torch.no_grad():
            model.weight += torch.randn_like(model.weight)
            model.bias += 1.0
        model.after_step(torch.tensor(active))
        for s in range(2):
            if active[s]:
                seen[s].append(torch.cat([model.weight[s], model.bias[s : s + 1]]).detach())
    assert model.updates.tolist() == [4, 3]
    expected = torch.stack([torch.stack(values).mean(dim=0) for values in seen])
    torch.testing.assert_close(model.average_weight, expected[:, :3])
    torch.testing.assert_close(model.average_bias, expected[:, 3])
    reference = LinearPair(3, splits=(0, 1)).double()
    with torch.no_grad():
        reference.weight.copy_(expected[:, :3])
        reference.bias.copy_(expected[:, 3])
    averaged = model.eval()(entries, split_of_block=split_of_block)
    torch.testing.assert_close(averaged, reference(entries, split_of_block=split_of_block))
    assert not torch.equal(model.train()(entries, split_of_block=split_of_block), averaged)
    assert not torch.equal(model.average_weight, start)


def test_evaluation_before_any_update_uses_the_initial_weights(
    entries: tuple[torch.Tensor, ...],
) -> None:
    model = LinearPair(3).double()
    assert torch.equal(model.eval()(entries), model.train()(entries))


def test_a_split_starts_the_same_alone_and_in_company() -> None:
    together, alone = LinearPair(4, splits=(9, 3)), LinearPair(4, splits=(3,))
    assert torch.equal(together.weight[1], alone.weight[0])
    assert torch.equal(together.bias[1], alone.bias[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LinearPair(3, kind="points"), "pairs, vectors; received 'points'"),
        (lambda: LinearPair(3)((torch.zeros(4, 3),)), "received 4, between 3"),
        (lambda: LinearPair(3)((torch.zeros(3, 2),)), r"\(e, 3\).*received \(3, 2\)"),
        (lambda: LinearPair(3)((torch.zeros(3, 3, requires_grad=True),)), "features are data"),
        (
            lambda: LinearPair(2, kind="vectors")(torch.zeros(1, 3, 2, requires_grad=True)),
            "features are data",
        ),
    ],
)
def test_mistakes_are_explained(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
