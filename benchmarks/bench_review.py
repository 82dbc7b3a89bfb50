"""A simulated reviewer: pairwise F1 against the number of answers, for ways to choose questions.

    python -m benchmarks.bench_review cora historical --data DATA --answers 300

Half of the entities, drawn at random, train a model; the records of the others are clustered with
it, and true labels answer the questions. An answer is a constraint, as on the page of ``supclust
review``; nothing is trained again. A question about a merge shows up to four records of either
side: the answer is yes if all are of one entity, no if none of the left is of an entity of the
right, else unsure, which counts as an answer. Ways to choose:

    review    merges by the number of pairs an answer is expected to correct, as ``supclust review``
    near      merges by their distance to the cut alone
    random    merges at random
    pairs     two records whose probability of a match is nearest to 1/2, as dedupe asks
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_resolve import LABEL, read
from supclust.hac.graph.constraints import merged_groups
from supclust.hac.graph.forest import Forest
from supclust.resolve.graph_cut import cluster_graph
from supclust.resolve.scoring import Edges
from supclust.review.questions import sides, worth
from supclust.review.session import SHOWN

WAYS = ("review", "near", "random", "pairs")


class Reviewer:
    """Records with true labels, their scored pairs, and the constraints that answers made.

    Args:
        edges: scored pairs.
        truth: (n,) entity of every record.
        model: with linkage, cut and what a missing pair counts.
        seed: of what is random.
    """

    def __init__(self, edges: Edges, truth: np.ndarray, model: Any, seed: int) -> None:
        close = edges.dissimilarity < float(model.records["missing"])
        self.edges = Edges(*(one[close] for one in edges))
        self.truth, self.model = truth, model
        self.must: list[tuple[int, int]] = []
        self.cannot: list[tuple[int, int]] = []
        self.asked: set[Any] = set()
        self.rng = np.random.default_rng(seed)

    def forest(self) -> Forest:
        """Trees under the constraints."""
        must, cannot = (np.array(one, np.int64).reshape(-1, 2) for one in (self.must, self.cannot))
        missing = float(self.model.records["missing"])
        return cluster_graph(self.edges, len(self.truth), self.model.alpha, missing, cannot, must)

    def f1(self, forest: Forest) -> float:
        """Pairwise F1 of the clusters."""
        return pairwise_f1(self.truth, forest.labels_at(self.model.threshold))

    def ask(self, forest: Forest, way: str, count: int) -> int:
        """Ask some questions and keep the answers; the number of answers."""
        if way == "pairs":
            return self._ask_pairs(count)
        value = worth(forest, self.model.threshold)
        if way == "near":
            value = np.where(value > 0, np.exp(-np.abs(forest.heights - self.model.threshold)), 0)
        elif way == "random":
            value = np.where(value > 0, self.rng.random(len(value)), 0)
        done = 0
        touched: set[int] = set()
        for k in np.argsort(-value, kind="stable").tolist():
            if done == count or value[k] <= 0:
                break
            component = int(forest.components[forest.pairs[k, 0]])
            if component in touched:  # the answer before changes its tree
                continue
            left, right = sides(forest, k)
            key = frozenset([tuple(left.tolist()), tuple(right.tolist())])
            if key in self.asked:
                continue
            self.asked.add(key)
            touched.add(component)
            self._answer(left, right)
            done += 1
        return done

    def _answer(self, left: np.ndarray, right: np.ndarray) -> None:
        """A person looks at the closest records of both sides."""
        side = np.zeros(len(self.truth), np.int8)
        side[left], side[right] = 1, 2
        ends = np.stack([self.edges.left, self.edges.right])
        here = np.flatnonzero(side[ends[0]] + side[ends[1]] == 3)
        here = here[side[ends[0][here]] * side[ends[1][here]] == 2]
        here = here[np.argsort(self.edges.dissimilarity[here], kind="stable")]
        near = ends[:, here].T.ravel().tolist()
        shown = [
            list(dict.fromkeys([*(k for k in near if side[k] == which), *own.tolist()]))[:SHOWN]
            for which, own in ((1, left), (2, right))
        ]
        entities = [{int(self.truth[k]) for k in one} for one in shown]
        if len(entities[0] | entities[1]) == 1:
            self.must += list(pairwise([*shown[0], *shown[1]]))
        elif not entities[0] & entities[1]:
            self.cannot += list(product(*shown))

    def _ask_pairs(self, count: int) -> int:
        """Pairs nearest to even odds, without those that earlier answers imply."""
        must, cannot = (np.array(one, np.int64).reshape(-1, 2) for one in (self.must, self.cannot))
        group = merged_groups(must, cannot, len(self.truth))
        apart = {frozenset(pair) for pair in group[cannot].tolist()}
        ends = group[np.stack([self.edges.left, self.edges.right])]
        order = np.argsort(np.abs(self.edges.dissimilarity), kind="stable")
        order = order[(ends[0] != ends[1])[order]]
        done = 0
        for k in order.tolist():
            if done == count:
                break
            a, b = int(self.edges.left[k]), int(self.edges.right[k])
            if (a, b) in self.asked or frozenset(ends[:, k].tolist()) in apart:
                continue
            self.asked.add((a, b))
            (self.must if self.truth[a] == self.truth[b] else self.cannot).append((a, b))
            done += 1
        return done


def pairwise_f1(truth: np.ndarray, found: np.ndarray) -> float:
    """Pairwise F1 of a clustering."""

    def pairs(codes: np.ndarray) -> float:
        counts = np.unique(codes, return_counts=True)[1].astype(float)
        return float((counts * (counts - 1) / 2).sum())

    both = pairs(truth.astype(np.int64) * (int(found.max()) + 1) + found)
    return 2 * both / (pairs(truth) + pairs(found))


def prepare(name: str, options: argparse.Namespace) -> tuple[Edges, np.ndarray, Any]:
    """A model of one half of the entities; scored pairs and true entities of the other half."""
    from supclust.cli.main import main
    from supclust.data.tables.reader import open_table
    from supclust.model import load
    from supclust.resolve.apply import score_values
    from supclust.resolve.table_model import read_values

    table = read(name, options)
    entity = table[LABEL].astype("category").cat.codes.to_numpy()
    half = np.random.default_rng(options.seed).permutation(entity.max() + 1) % 2 == 0
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder) / "train.parquet", Path(folder) / "test.parquet"
        table[half[entity]].to_parquet(train)
        table[~half[entity]].to_parquet(test)
        words = ["fit", str(train), "--label", LABEL, "-o", f"{folder}/model"]
        assert main(words) == 0
        model = load(Path(folder) / "model")
        scored = score_values(read_values(open_table(test), model), model)
    return scored.edges, entity[~half[entity]], model


def curve(reviewer: Reviewer, way: str, answers: int, batch: int) -> dict[int, float]:
    """F1 after every batch of answers."""
    forest = reviewer.forest()
    made, done = {0: reviewer.f1(forest)}, 0
    while done < answers:
        new = reviewer.ask(forest, way, min(batch, answers - done))
        if not new:
            break
        done += new
        forest = reviewer.forest()
        made[done] = reviewer.f1(forest)
    return made


def needed(curve: dict[int, float], target: float) -> str:
    """Answers after which F1 first reaches the target."""
    reached = next((answers for answers, f1 in curve.items() if f1 >= target), None)
    return f"> {max(curve)}" if reached is None else str(reached)


def run(name: str, options: argparse.Namespace) -> None:
    """Print the curves of a data set."""
    edges, truth, model = prepare(name, options)
    print(
        f"\n{name}: {len(truth):,} records, {len(np.unique(truth)):,} entities, seed {options.seed}"
    )
    curves = {
        way: curve(Reviewer(edges, truth, model, options.seed), way, options.answers, options.batch)
        for way in WAYS
    }
    shown = [k for k in (0, 10, 20, 50, 100, 200, 300, 500, 1000) if k <= options.answers]
    print("answers  " + "  ".join(f"{k:>5}" for k in shown))
    for way, made in curves.items():
        at = [made[max(k for k in made if k <= limit)] for limit in shown]
        print(f"{way:<8} " + "  ".join(f"{f1:.3f}" for f1 in at))
    start, best = curves["review"][0], max(curves["review"].values())
    for share in (0.5, 0.9):
        target = start + share * (best - start)
        counts = ", ".join(f"{way} {needed(made, target)}" for way, made in curves.items())
        print(f"answers for F1 {target:.4f} ({share:.0%} of the gain of review): {counts}")


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", choices=["cora", "historical"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--batch", type=int, default=5, help="answers between two clusterings")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in options.sets:
        run(name, options)


if __name__ == "__main__":
    main()
