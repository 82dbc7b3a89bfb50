"""Reading the GUM tables, and what is said when they are wrong."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from gum_tables import MENTIONS, NAMES, TEXT, write_gum
from supclust.data import DataError, check_path, load_dataset, split_dataset
from supclust.data.sets.gum.dataset import read_gum_coref
from supclust.data.sets.gum.features import FEATURE_NAMES
from supclust.data.sets.gum.mentions import LEAKING_COLUMNS, Document, read_documents


def replace_in(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_documents_are_read_as_written(tmp_path):
    documents = read_documents(write_gum(tmp_path))
    assert [document.name for document, _ in documents] == ["a", "b", "c"]
    document, truth = documents[1]
    forms = [token[0] for sentence in TEXT for token in sentence]
    assert list(document.form) == forms
    assert document.sentence.tolist() == [s for s, sentence in enumerate(TEXT) for _ in sentence]
    assert [forms[h] for h in document.head[:4]] == ["Barack", "museum", "museum", "gardens"]
    assert [forms[document.governor[h]] for h in document.head[:2]] == ["visited", "visited"]
    assert document.governor[document.form.index("met")] == -1
    assert truth.ids[:2] == ("b:0", "b:1")
    assert [int(c) for c in truth.clusters] == [mention[-1] for mention in MENTIONS]


def test_mentions_are_put_in_order_of_the_text(tmp_path):
    root = write_gum(tmp_path)
    lines = (root / "mentions.csv").read_text().splitlines()
    (root / "mentions.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    shuffled, ordered = read_gum_coref(root), read_gum_coref(write_gum(tmp_path / "other"))
    assert shuffled.digest() == ordered.digest()


def test_compressed_tables_are_the_same(tmp_path):
    plain, packed = write_gum(tmp_path / "plain"), write_gum(tmp_path / "packed")
    for table in ("tokens", "mentions"):
        content = (packed / f"{table}.csv").read_bytes()
        (packed / f"{table}.csv").unlink()
        (packed / f"{table}.csv.gz").write_bytes(gzip.compress(content))
    assert read_gum_coref(packed).digest() == read_gum_coref(plain).digest()


def test_a_document_does_not_hold_what_gives_the_clusters_away():
    fields = set(Document.__dataclass_fields__)
    assert not fields & {"cluster", "clusters", "labels", *LEAKING_COLUMNS}


def test_data_set_of_small_tables(tmp_path):
    root = write_gum(tmp_path / "gum_coref", [f"d{i}" for i in range(5)])
    data = load_dataset("gum_coref", data_dir=tmp_path, cache_dir=tmp_path / "cache")
    assert (data.kind, data.source, data.unit, data.sizes) == ("pairs", "real", "block", None)
    assert data.feature_names == FEATURE_NAMES and data.d >= 40
    assert [block.n for block in data.blocks] == [len(NAMES)] * 5
    assert all(block.features.dtype == np.float32 for block in data.blocks)
    assert [len(part) for part in split_dataset(data, 0)] == [2, 1, 2]
    (report,) = check_path(root)
    assert report.layout == "GUM coreference"
    assert f"5 block(s), {5 * len(NAMES)} points, 35 clusters" in "\n".join(report.lines())


def test_104_documents_are_drawn_from_more(tmp_path):
    root = write_gum(tmp_path, [f"d{i}" for i in range(108)])
    data = read_gum_coref(root)
    used = set()
    for number in range(3):
        parts = split_dataset(data, number)
        names = [{block.name for block in part} for part in parts]
        assert [len(part) for part in names] == [62, 10, 32] and len(set.union(*names)) == 104
        used |= set.union(*names)
    assert len(used) > 104  # each split leaves others out


@pytest.mark.parametrize("source", ["auto", "real", "stand-in"])
def test_absent_data_are_refused_with_advice(tmp_path, source):
    with pytest.raises(DataError, match=r"documents.csv, tokens.csv.gz.*docs/gum_coref.md"):
        load_dataset("gum_coref", data_dir=tmp_path, source=source, cache_dir=tmp_path)


@pytest.mark.parametrize(
    ("table", "old", "new", "message"),
    [
        ("documents", "a,3,27", "a,3,28", r"documents.csv:2: .*should be \(3, 28, 13, 7\)"),
        ("documents", "a,3,27", "z,3,27", r"tokens.csv: document 'z' of .* has no rows"),
        ("documents", "c,3,27,13,7\n", "", r"document 'c' is not in documents.csv"),
        ("tokens", "a,0,2,", "a,0,3,", r"tokens.csv:3: .*numbered 1, 2"),
        ("tokens", "a,0,2,Obama,Obama,PROPN,Number=Sing,1", "a,0,2,Obama,Obama,PROPN,_,10",
         r"tokens.csv:3: .*head must be another token"),
        ("tokens", "deprel", "relation", "column 'deprel' not found"),
        ("tokens", "a,0,1,Barack", "a,0.5,1,Barack", "column 'sent' must hold whole numbers"),
        ("mentions", "a,1,1,0,4,9", "a,1,1,7,4,9", r"mentions.csv:3: .*sentence of the document"),
        ("mentions", "a,1,1,0,4,9", "a,1,1,0,4,10", r"mentions.csv:3: .*tokens of the sentence"),
        ("mentions", "a,1,1,0,4,9,6", "a,1,1,0,4,9,3", r"mentions.csv:3: .*between start and end"),
        ("mentions", "a,1,1,0,4,9", "a,1,1,0,4,6", r"mentions.csv:[34]: .*the same tokens"),
        ("mentions", "a,1,1,0,", "a,1,x,y,", r"mentions.csv:3: column 'sent' must hold numbers"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(tmp_path, table, old, new, message):
    root = write_gum(tmp_path)
    replace_in(root / f"{table}.csv", old, new)
    with pytest.raises(DataError, match=message):
        read_documents(root)


def test_missing_table_and_unknown_option(tmp_path):
    root = write_gum(tmp_path)
    with pytest.raises(DataError, match="entity_types must be annotated or none; received 'gold'"):
        read_gum_coref(root, "gold")
    (root / "tokens.csv").unlink()
    with pytest.raises(DataError, match=r"tokens.csv or tokens.csv.gz not found"):
        read_documents(root)


@pytest.mark.data
def test_the_real_set(data_dir):
    if not (data_dir / "gum_coref").is_dir():
        pytest.skip("gum_coref is not below SUPCLUST_DATA")
    documents = read_documents(data_dir / "gum_coref")
    assert len(documents) == 108
    assert sum(document.n for document, _ in documents) == 28465
    assert sum(len(set(truth.clusters)) for _, truth in documents) == 16064
