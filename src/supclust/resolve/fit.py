"""Learn from a bare table of partly labelled records how to find its entities.

Candidate rules, comparisons of columns, a pair model, a linkage and a cut, in this order; each is
chosen on labelled records only. The result is a `TrainedModel` like that of blocks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supclust.data.errors import DataError
from supclust.data.records.learning import learn_comparisons
from supclust.data.records.table import Records
from supclust.explain.confidence import calibrate
from supclust.explain.membership import membership
from supclust.metrics.threshold import ThresholdCurve
from supclust.model.folder import numerical_versions
from supclust.model.trained import TrainedModel
from supclust.resolve.candidates import ALL_PAIRS, Candidates
from supclust.resolve.choose import TARGET, ChosenRule, choose_rules
from supclust.resolve.completeness import Completeness, Labelled, completeness
from supclust.resolve.forest_scores import LabelledScores, labelled_scores
from supclust.resolve.graph_cut import EVEN, MISSING, GraphCut, choose_cut, pairs_apart
from supclust.resolve.keys import BY_RARITY, CHOICE, KeyColumn
from supclust.resolve.pair_model import Boosted
from supclust.resolve.rules import KeyTable, Predicate, Rule, parse_rules
from supclust.resolve.scoring import Compared, Progress, score_candidates
from supclust.resolve.train import TrainedPairs, train_pairs
from supclust.resolve.training_pairs import (
    PairCounts,
    count_pairs,
    draw_pairs,
    labelled_pair_count,
)

LAYOUT = "table"
"""Of the description of a table in a model that needs no blocks."""
PAIRS_PER_RECORD = 40
"""Budget of candidate pairs, per record of the table."""
_IN_BLOCKS = 4  # times the budget where candidates are of one block
_CURVE_POINTS = 200  # of the threshold curve that a model keeps


@dataclass(frozen=True)
class TableOptions:
    """How a bare table is learned from.

    Attributes:
        candidates: rules, as in ``surname & year(dob), postcode``; ``None``: they are chosen.
        labelled: whether records without a label are strangers.
        max_pairs: candidate pairs per record, at most, of the rules that are chosen.
        recall: share of the labelled pairs that the closure of the candidates is to cover.
        seed: of samples, folds and training.
    """

    candidates: str | None = None
    labelled: Labelled = "auto"
    max_pairs: float = PAIRS_PER_RECORD
    recall: float = TARGET
    seed: int = 0


def fit_table(
    records: Records,
    options: TableOptions,
    say: Callable[[str], None] = lambda line: None,
    progress: Progress | None = None,
) -> TrainedModel:
    """Learn from the labelled records of a table.

    Args:
        records: the whole table; records without a label take part as strangers, or as unknown.
        options: see `TableOptions`.
        say: receives lines about what is done.
        progress: called with the number of pairs compared, and of all.
    """
    start = time.perf_counter()
    labels = records.labels
    _require_pairs(records)
    keys = key_table(records)
    rules = _rules(keys, records, options, say)
    block = records.choice.block
    small = records.n <= ALL_PAIRS and options.candidates is None and block is None
    candidates = Candidates.of(keys, () if small else [one.rule for one in rules])
    counts = count_pairs(candidates, labels)
    lost = 1 - counts.same / labelled_pair_count(labels)
    say_candidates(candidates, counts.total, say)
    say(f"of the labelled pairs, {lost:.1%} are never compared")
    table = _compared(records, candidates, counts, options.seed)
    strangers = completeness(options.labelled, candidates, table, labels, counts)
    say(strangers.reason)
    pairs = draw_pairs(candidates, labels, counts, strangers.complete, options.seed)
    if pairs.same.all() or not pairs.same.any():
        raise DataError(
            "the pair model needs pairs of one entity and pairs of different entities among the "
            f"candidates; received {counts.same:,} and {counts.different:,}. Label more entities, "
            "or say --labelled complete if records without a label are other entities",
            records.path,
        )
    trained = train_pairs(table, pairs, labels, options.seed)
    edges = score_candidates(
        *(candidates, table, [*trained.folds, trained.model], trained.which),
        *(max(MISSING), progress, counts.total),
    )
    apart = pairs_apart(records.distinct)
    known = counts.different + (counts.mixed if strangers.complete else 0) > 0
    cut, scores, curve, confidence = GraphCut(0.0, MISSING[0], EVEN), None, None, None
    if known:
        cut, curve, forest = choose_cut(edges, labels, strangers.complete, apart)
        scores = labelled_scores(labels, forest.labels_at(cut.threshold), strangers.complete)
        confidence = calibrate(
            membership(edges, forest, *cut), labels, strangers.complete, trained.fold
        )
    record = {
        "records": _description(records, table, keys, rules, small, cut, options),
        "dev": _dev(scores),
        "bcubed": None if scores is None else list(scores[3:]),
        "entities": _facts(records, counts, lost, strangers, trained),
        "importances": _importances(trained, table),
        "threshold_curve": None if curve is None else _thinned(curve),
        "confidence": None if confidence is None else confidence.to_json(),
        "seconds": time.perf_counter() - start,
        "spread": float(edges.dissimilarity.std()) or 1.0 if len(edges.left) else 1.0,
        "versions": numerical_versions(),
    }
    return TrainedModel(
        spec=trained.model.spec,
        weights=trained.model.weights,
        objective="pairs",
        feature_names=table.comparisons.feature_names,
        linkage="exp",
        alpha=cut.alpha,
        threshold=cut.threshold,
        record=record,
    )


def key_table(records: Records) -> KeyTable:
    """Keys of the compared columns of a table, and of its blocks."""
    columns = {
        name: KeyColumn.of(records.values[name], kind) for name, kind in records.kinds.items()
    }
    block = records.choice.block
    if block is None:
        return KeyTable(columns)
    columns[block] = KeyColumn.of(records.blocks, "code")
    return KeyTable(columns, within=Predicate(block))


def say_candidates(candidates: Candidates, total: int, say: Callable[[str], None]) -> None:
    """Say how many pairs there are, and which keys were left out."""
    what = "pairs that satisfy a rule" if candidates.rules else "pairs: all are compared"
    say(f"{total:,} {what}")
    for one in candidates.left_out:
        say(
            f"{one.rule}: {one.keys:,} keys that more than the allowed number of records share "
            f"(up to {one.largest:,}) are left out"
        )


def _require_pairs(records: Records) -> None:
    if labelled_pair_count(records.labels) == 0:
        raise DataError(
            f"training needs two records with one label (column {records.choice.label!r}); there "
            "are none. Name the column of known entities with --label",
            records.path,
        )


def _rules(
    keys: KeyTable, records: Records, options: TableOptions, say: Callable[[str], None]
) -> list[ChosenRule]:
    if options.candidates is not None:
        rules = [_within(keys, r) for r in parse_rules(options.candidates, list(keys.columns))]
        return [ChosenRule(rule, float(keys.of_rule(rule).n_pairs()), 0, 0) for rule in rules]
    predicates = [
        Predicate(name, predicate)
        for name, kind in records.kinds.items()
        for predicate in CHOICE[kind]
    ]
    budget = options.max_pairs * records.n
    block = keys.within
    if block is not None:
        budget *= _IN_BLOCKS
        inside = Rule((block,))
        pairs = keys.of_rule(inside).n_pairs()
        if pairs <= budget:
            return [ChosenRule(inside, float(pairs), 0, 0)]
    chosen = choose_rules(keys, predicates, records.labels, budget, options.recall, options.seed)
    if not chosen:
        raise DataError(
            f"no rule makes candidates of labelled pairs within {options.max_pairs:g} pairs per "
            "record. Raise --max-pairs, or name rules with --candidates",
            records.path,
        )
    say("candidates: pairs of records that agree on one of these rules")
    width = max(len(str(one.rule)) for one in chosen)
    say(f"  {'rule':<{width}}  {'pairs':>12}  {'recall':>7}  {'closure':>7}")
    for one in chosen:
        say(f"  {one.rule!s:<{width}}  {one.pairs:>12,.0f}  {one.recall:7.1%}  {one.closure:7.1%}")
    if block is not None:
        say(f"pairs of different blocks (column {block}) are not compared")
    return [one._replace(rule=_within(keys, one.rule)) for one in chosen]


def _within(keys: KeyTable, rule: Rule) -> Rule:
    """The rule for pairs of one block, where there are blocks."""
    block = keys.within
    if block is None or block in rule.predicates:
        return rule
    return Rule((*rule.predicates, block))


def _compared(records: Records, candidates: Candidates, counts: PairCounts, seed: int) -> Compared:
    some = draw_pairs(candidates, records.labels, counts, True, seed)
    comparisons = learn_comparisons(records.kinds, records.values, some.left, some.right)
    return Compared(comparisons, comparisons.encode(records.values))


def _description(
    records: Records,
    table: Compared,
    keys: KeyTable,
    rules: list[ChosenRule],
    small: bool,
    cut: GraphCut,
    options: TableOptions,
) -> dict[str, Any]:
    """What clustering needs to know about the table."""
    return {
        "layout": LAYOUT,
        "label": records.choice.label,
        "block": records.choice.block,
        "id": records.choice.id,
        "distinct": records.choice.distinct,
        "columns": dict(records.kinds),
        "comparisons": table.comparisons.to_json(),
        "candidates": [
            {"rule": str(one.rule), **{k: float(getattr(one, k)) for k in one._fields[1:]}}
            for one in rules
        ],
        "frequencies": word_frequencies(keys, [one.rule for one in rules]),
        "given": options.candidates is not None,
        "all_pairs": small,
        "missing": cut.missing,
    }


def word_frequencies(keys: KeyTable, rules: Sequence[Rule]) -> dict[str, Any]:
    """How often words occur, of the columns of which a rule takes the rarest; for a model."""
    columns = {p.column for rule in rules for p in rule.predicates if p.name in BY_RARITY}
    return {name: keys.columns[name].frequencies.to_json() for name in sorted(columns)}


def rules_of(model: TrainedModel) -> tuple[Rule, ...]:
    """Candidate rules of a model of a bare table."""
    described = model.records or {}
    names = [*(described.get("columns") or {}), str(described.get("block"))]
    return tuple(parse_rules(one["rule"], names)[0] for one in described.get("candidates") or ())


def _dev(scores: LabelledScores | None) -> dict[str, float | None] | None:
    if scores is None:
        return None
    return {
        "dendrogram_purity": None,
        "precision": min(1.0, scores.precision),
        "recall": scores.recall,
        "pairwise_f1": scores.pairwise_f1,
    }


def _facts(
    records: Records,
    counts: PairCounts,
    lost: float,
    strangers: Completeness,
    trained: TrainedPairs,
) -> dict[str, Any]:
    return {
        "records": records.n,
        "labelled": int((records.labels >= 0).sum()),
        "entities": len(records.label_names),
        "pairs": counts.total,
        **{f"{name}_pairs": value for name, value in counts._asdict().items()},
        "never_compared": lost,
        "complete": strangers.complete,
        "reason": strangers.reason,
        "pair_model": "boosted" if isinstance(trained.model, Boosted) else "logistic",
        "log_losses": trained.losses,
    }


def _importances(trained: TrainedPairs, table: Compared) -> dict[str, float] | None:
    if not isinstance(trained.model, Boosted):
        return None
    names, shares = table.comparisons.feature_names, trained.model.importances.tolist()
    return dict(sorted(zip(names, shares, strict=True), key=lambda one: -one[1]))


def _thinned(curve: ThresholdCurve) -> dict[str, list[float]]:
    finite = np.flatnonzero(np.isfinite(curve.thresholds))
    kept = finite[np.linspace(0, len(finite) - 1, min(_CURVE_POINTS, len(finite))).astype(int)]
    return {
        name: getattr(curve, name)[kept].tolist()
        for name in ("thresholds", "precision", "recall", "f1")
    }
