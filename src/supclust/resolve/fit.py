"""Learn from a bare table of partly labelled records how to find its entities.

Candidate rules, comparisons of columns, a pair model, a linkage and a cut, in this order; each is
chosen on labelled records only. The result is a `TrainedModel` like that of blocks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from supclust.data.errors import DataError
from supclust.data.records.audit import audit_labels
from supclust.data.records.judged_pairs import JudgedPairs
from supclust.data.records.labels import require_match
from supclust.data.records.learning import learn_comparisons
from supclust.data.records.table import Records
from supclust.explain.confidence import calibrate
from supclust.explain.held_out import held_out_membership
from supclust.model.folder import numerical_versions
from supclust.model.trained import TrainedModel
from supclust.resolve.blocking.candidates import (
    ALL_PAIRS,
    Candidates,
    largest_group,
    say_candidates,
)
from supclust.resolve.blocking.choose import TARGET
from supclust.resolve.blocking.keys import Ints
from supclust.resolve.blocking.rules import KeyTable
from supclust.resolve.blocking.table_rules import key_table, table_rules
from supclust.resolve.completeness import Completeness, Labelled, completeness, few_strangers
from supclust.resolve.description import description, facts, importances, thinned
from supclust.resolve.graph_cut import (
    DEFAULT,
    MISSING,
    ChosenCut,
    CutScores,
    choose_cut,
)
from supclust.resolve.judged import (
    and_judged,
    judged_scores,
    judged_training_pairs,
    with_matches,
)
from supclust.resolve.kept_apart import components, pairs_apart
from supclust.resolve.opposed import hint, opposed_columns
from supclust.resolve.scoring import Compared, Progress, score_candidates
from supclust.resolve.train import FEW_COLUMNS, train_pairs, useless_columns
from supclust.resolve.training_pairs import (
    LabelledPairs,
    PairCounts,
    count_pairs,
    draw_pairs,
    labelled_pair_count,
)

PAIRS_PER_RECORD = 40
"""Budget of candidate pairs, per record."""
MOST_PER_RECORD = 200
"""The same of tables that have few records, but too many to compare all pairs."""
PER_MATCH = 10
"""Budget of candidate pairs, per match, where records have many; up to `MOST_FOR_MATCHES`."""
MOST_FOR_MATCHES = 20e6
_PAIRS = 20_000  # from which averages and useless columns are learned


@dataclass(frozen=True)
class TableOptions:
    """How a bare table is learned from.

    Attributes:
        candidates: rules, as in ``surname & year(dob), postcode``; ``None``: they are chosen.
        labelled: whether records without a label are strangers.
        max_pairs: candidate pairs per record, at most, of the rules that are chosen; default: see
            `pair_budget`.
        recall: share of the labelled pairs that the closure of the candidates is to cover.
        seed: of samples, folds and training.
    """

    candidates: str | None = None
    labelled: Labelled = "auto"
    max_pairs: float | None = None
    recall: float = TARGET
    seed: int = 0


def fit_table(
    records: Records,
    options: TableOptions,
    say: Callable[[str], None] = lambda line: None,
    progress: Progress | None = None,
    judged: JudgedPairs | None = None,
) -> TrainedModel:
    """Learn from the labelled records of a table.

    Args:
        records: the whole table; records without a label take part as strangers, or as unknown.
        options: see `TableOptions`.
        say: receives lines about what is done.
        progress: called with the number of pairs compared, and of all.
        judged: pairs of records, beside labels or instead of them.
    """
    start = time.perf_counter()
    labels = records.labels if judged is None else with_matches(records.labels, judged)
    only_judged = judged if records.choice.label is None else None
    _require_pairs(records, labels, judged)
    keys = key_table(records, options.candidates is not None)
    block = records.choice.block
    budget = options.max_pairs
    if budget is None:
        matches = labelled_pair_count(labels) / max(1, int((labels >= 0).sum()))
        budget = pair_budget(records.n, block is not None, matches)
    limits = (options.candidates, budget, options.recall, options.seed)
    rules = table_rules(keys, records, labels, *limits, say)
    small = records.n <= ALL_PAIRS and options.candidates is None and block is None
    largest = largest_group(block is not None, budget * records.n)
    candidates = Candidates.of(keys, () if small else [one.rule for one in rules], largest)
    counts = count_pairs(candidates, labels)
    lost = 1 - counts.same / labelled_pair_count(labels)
    say_candidates(candidates, counts.total, say)
    say(f"of the labelled pairs, {lost:.1%} are never compared")
    in_rules = {predicate.column for one in rules for predicate in one.rule.predicates}
    table = _compared(
        records, keys, candidates, labels, counts, only_judged, in_rules, options.seed, say
    )
    if only_judged is not None:
        strangers = Completeness(False, "only the judged pairs are trained on and scored")
        pairs = judged_training_pairs(only_judged, table, candidates, counts.total, options.seed)
    else:
        strangers = completeness(options.labelled, candidates, table, labels, counts)
        pairs = draw_pairs(candidates, labels, counts, strangers.complete, options.seed)
        pairs = pairs if judged is None else and_judged(pairs, judged)
    say(strangers.reason)
    for gap in audit_labels(records) if strangers.complete else ():
        say(f"warning: {gap}")
    if pairs.same.all() or not pairs.same.any():
        raise DataError(
            "the pair model needs pairs of one entity and pairs of different entities among the "
            f"candidates; received {pairs.same.sum():,} and {(~pairs.same).sum():,}. Label more "
            "entities, or say --labelled complete if records without a label are other entities",
            records.path,
        )
    say(f"training pair models on {len(pairs.left):,} pairs")
    trained = train_pairs(table, pairs, labels, options.seed, strangers.complete)
    scores: CutScores | None = None
    if only_judged is not None:
        scores = judged_scores(pairs, trained.fold)
    elif counts.different + (counts.mixed if strangers.complete else 0) > 0:
        scores = CutScores.of_labels(labels, strangers.complete, trained.fold)
    edges = score_candidates(
        *(candidates, table, [*trained.folds, trained.model], trained.which),
        *(max(MISSING), progress, counts.total),
    )
    apart = None
    if (records.distinct >= 0).any():
        apart = pairs_apart(records.distinct, components(candidates.n, edges))
    chosen = None if scores is None else choose_cut(edges, candidates.n, scores, apart)
    cut = DEFAULT if chosen is None else chosen.cut
    bcubed = confidence = None
    if chosen is not None and only_judged is None:
        bcubed = list(chosen.pairs.bcubed_scores)
        standing, right = held_out_membership(
            edges, chosen.forest, cut, labels, strangers.complete, trained.fold
        )
        confidence = calibrate(standing, right, labels, trained.fold)
    given = options.candidates is not None
    record = {
        "records": description(records, table, keys, rules, small, cut, given, largest),
        "dev": _dev(chosen),
        "bcubed": bcubed,
        "entities": facts(records, counts, lost, strangers, trained),
        "importances": importances(trained, table),
        "threshold_curve": None if chosen is None else thinned(chosen.curve),
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


def pair_budget(n: int, in_blocks: bool = False, matches: float = 0.0) -> float:
    """Candidate pairs per record, at most.

    A table too large for all pairs has as many in all as one that is just not, within limits; more
    where records have many matches. Rules of smaller tables are for later, larger ones, where pairs
    per record grow with the table.

    Args:
        n: records.
        in_blocks: whether candidates are of one block.
        matches: labelled matches, per labelled record.

    >>> [pair_budget(n) for n in (1_000, 10_000, 50_000, 1_000_000)]
    [40, 200, 89.97, 40]
    >>> [pair_budget(10_000, matches=matches) for matches in (5, 50, 5_000)]
    [200, 500, 2000.0]
    """
    if in_blocks or n <= ALL_PAIRS:
        return PAIRS_PER_RECORD
    as_many = ALL_PAIRS * (ALL_PAIRS - 1) / 2 / n
    usual = min(max(as_many, PAIRS_PER_RECORD), MOST_PER_RECORD)
    return max(usual, min(PER_MATCH * matches, MOST_FOR_MATCHES / n))


def _require_pairs(records: Records, labels: Ints, judged: JudgedPairs | None) -> None:
    if judged is None:
        require_match(records)
    elif labelled_pair_count(labels) == 0:
        raise DataError(
            "training needs judged pairs that match; there are none. Judge more pairs, or name a "
            "column of known entities with --label",
            records.path,
        )


def _compared(
    records: Records,
    keys: KeyTable,
    candidates: Candidates,
    labels: Ints,
    counts: PairCounts,
    judged: JudgedPairs | None,
    in_rules: Collection[str],
    seed: int,
    say: Callable[[str], None],
) -> Compared:
    """The table, ready to compare; of many columns those of rules, and those that tell matches."""
    strangers = few_strangers(counts)  # else pairs of two labelled entities are enough
    pairs = draw_pairs(candidates, labels, counts, strangers, seed)
    if judged is not None:
        pairs = LabelledPairs(judged.left, judged.right, judged.match, np.ones(len(judged.left)))
    some = np.random.default_rng(seed).permutation(len(pairs.left))[:_PAIRS]
    pairs = pairs.of(some)
    comparisons = learn_comparisons(records.kinds, records.values, pairs.left, pairs.right)
    opposed = opposed_columns(keys, records, labels)
    for line in (*map(str, opposed), hint(opposed)):
        if line is not None:
            say(line)
    comparisons = comparisons.with_opposed([one.column for one in opposed])
    if len(records.kinds) > FEW_COLUMNS and pairs.same.any() and not pairs.same.all():
        useless = useless_columns(comparisons, records.values, pairs, seed)
        useless = [name for name in useless if name not in in_rules]
        if useless:
            say(f"columns that tell nothing about matches are not compared: {', '.join(useless)}")
        comparisons = comparisons.without(useless)
    return Compared(comparisons, comparisons.encode(records.values))


def _dev(chosen: ChosenCut | None) -> dict[str, float | None] | None:
    if chosen is None:
        return None
    precision, recall, f1 = chosen.pairs.scores
    return {
        "dendrogram_purity": None,
        "precision": min(1.0, precision),
        "recall": recall,
        "pairwise_f1": f1,
    }
