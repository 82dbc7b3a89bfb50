"""Rules of a table: what they are chosen from, with and without blocks."""

import pytest

from person_tables import persons, write
from supclust.data.records.table import ColumnChoice, read_records
from supclust.resolve.blocking import table_rules
from supclust.resolve.blocking.choose import ChosenRule
from supclust.resolve.blocking.rules import Predicate, Rule


@pytest.mark.parametrize("block", [None, "city"])
def test_words_of_many_records_are_keys_inside_blocks(block, tmp_path, monkeypatch):
    rows, labels = persons(40)
    table = write(tmp_path / "t.csv", [{**row, "city": "york"} for row in rows], labels)
    records = read_records(table, ColumnChoice(label="entity", block=block))
    keys = table_rules.key_table(records)
    tried = []

    def choose(table, predicates, *_):
        tried.extend(one.name for one in predicates)
        return [ChosenRule(Rule((Predicate("surname"),)), 1.0, 1.0, 1.0)]

    monkeypatch.setattr(table_rules, "choose_rules", choose)
    limits = (None, 0.1, 0.99, 0, lambda line: None)
    rules = table_rules.table_rules(keys, records, records.labels, *limits)
    assert ("word" in tried, "common" in tried) == (block is None, block is not None)
    assert ("city" in str(rules[0].rule)) == (block is not None)
