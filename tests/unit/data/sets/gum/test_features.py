"""The GUM pair features: values worked out by hand, an oracle, and no way in for the clusters."""

from __future__ import annotations

import csv
import gzip
import io
import random
from pathlib import Path

import numpy as np
import pytest

import oracles.gum
from gum_tables import NAMES, write_gum
from supclust.data.block import condensed_index
from supclust.data.sets.gum.attributes import describe
from supclust.data.sets.gum.dataset import read_gum_coref
from supclust.data.sets.gum.features import FEATURE_NAMES, FEATURES, feature_table, pair_features
from supclust.data.sets.gum.mentions import LABEL_COLUMN, LEAKING_COLUMNS, read_documents
from supclust.data.sets.registry import SPECS

PAGE = Path(__file__).parents[5] / "docs" / "gum_coref.md"
SOME = 12  # documents of the real set: enough, and a few seconds


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    (document, _), *_ = read_documents(write_gum(tmp_path_factory.mktemp("gum")))
    return document, pair_features(describe(document))


def value(features, feature, antecedent, anaphor):
    i, j = NAMES.index(antecedent), NAMES.index(anaphor)
    assert i < j
    row = int(condensed_index(i, j, len(NAMES)))
    return float(features[row, FEATURE_NAMES.index(feature)])


@pytest.mark.parametrize(
    ("feature", "yes", "no"),
    [
        ("same_head", ("old museum", "new museum"), ("obama", "ann")),
        (
            "same_head_indefinite",
            ("old museum", "new museum"),
            ("museum and gardens", "old museum"),
        ),
        ("nearest_same_head", ("old museum", "new museum"), ("museum and gardens", "new museum")),
        ("modifier_new", ("old museum", "new museum"), ("museum and gardens", "old museum")),
        ("modifier_conflict", ("old museum", "new museum"), ("museum and gardens", "old museum")),
        ("modifier_shared", ("museum and gardens", "old museum"), ("old museum", "new museum")),
        ("core_included", ("museum and gardens", "old museum"), ("old museum", "new museum")),
        ("name_conflict", ("obama", "ann"), ("obama", "he")),
        ("acronym", ("whole name", "who"), ("obama", "who")),
        ("proper_name_differs", ("obama", "ann"), ("obama", "director")),
        ("apposition", ("ann", "director"), ("obama", "director")),
        ("coordination", ("old museum", "its gardens"), ("old museum", "new museum")),
        ("nested", ("its gardens", "its"), ("old museum", "its gardens")),
        ("shared_head_token", ("museum and gardens", "old museum"), ("its gardens", "its")),
        ("gender_same", ("obama", "he"), ("he", "ann")),
        ("gender_differs", ("he", "ann"), ("he", "director")),
        ("number_differs", ("its gardens", "he"), ("obama", "he")),
        ("number_same", ("museum and gardens", "its gardens"), ("museum and gardens", "he")),
        ("person_same", ("he", "it"), ("obama", "he")),
        ("animacy_differs", ("obama", "it"), ("obama", "ann")),
        ("type_same", ("obama", "he"), ("whole name", "it")),
        ("type_differs", ("obama", "new museum"), ("old museum", "it")),
        ("pronoun_agrees", ("obama", "he"), ("old museum", "he")),
        ("nearest_compatible", ("obama", "he"), ("old museum", "it")),
        ("nearest_subject", ("obama", "he"), ("ann", "herself")),
        ("antecedent_definite", ("old museum", "he"), ("obama", "he")),
        ("anaphor_indefinite", ("obama", "new museum"), ("obama", "director")),
        ("both_subjects", ("obama", "he"), ("obama", "ann")),
        ("both_objects", ("old museum", "ann"), ("obama", "ann")),
        ("same_governor", ("obama", "old museum"), ("obama", "he")),
        ("head_in_core", ("old museum", "new museum"), ("obama", "ann")),
    ],
)
def test_values_worked_out_by_hand(small, feature, yes, no):
    assert value(small[1], feature, *yes) == 1
    assert value(small[1], feature, *no) == 0


def test_graded_values(small):
    features = small[1]
    # One lemma of three is shared, and six runs of letters of ten each: those of "museum".
    assert value(features, "core_overlap", "old museum", "new museum") == pytest.approx(1 / 3)
    assert value(features, "letter_overlap", "old museum", "new museum") == pytest.approx(12 / 20)
    assert value(features, "sentence_distance", "obama", "who") == pytest.approx(
        np.log(3) / np.log(64)
    )


def check_against_oracle(document, features):
    for name, expected in oracles.gum.pair_features(document).items():
        found = features[:, FEATURE_NAMES.index(name)]
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=name)


def test_features_are_the_oracles(small):
    check_against_oracle(*small)


def test_names_values_and_page_agree(small):
    assert len(set(FEATURE_NAMES)) == len(FEATURE_NAMES) >= 40
    assert small[1].dtype == np.float32 and small[1].min() >= 0 and small[1].max() <= 1
    for feature, column in zip(FEATURES, small[1].T, strict=True):
        assert feature.values != "0 or 1" or set(np.unique(column)) <= {0.0, 1.0}
    assert feature_table() in PAGE.read_text(encoding="utf-8"), (
        "put the output of `python -m supclust.data.sets.gum.features` into docs/gum_coref.md"
    )
    assert f"{len(FEATURES)} pair features" in SPECS["gum_coref"].summary


def test_one_mention_and_two(small):
    document = small[0]
    for n in (1, 2):
        few = type(document)(
            **{
                **vars(document),
                **{k: getattr(document, k)[:n] for k in ("first", "last", "head", "entity_type")},
            }
        )
        assert pair_features(describe(few)).shape == (n * (n - 1) // 2, len(FEATURES))


# -- the clusters have no way in ------------------------------------------------------------------


def read_rows(path):
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def write_rows(path, rows):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def part_of(source, target, count):
    """Copy the first documents of a folder."""
    target.mkdir()
    files = {p.name.split(".")[0]: p for p in source.glob("*.csv*")}
    documents = read_rows(files["documents"])[:: max(1, 108 // count)][:count]
    names = {row["doc"] for row in documents}
    write_rows(target / "documents.csv", documents)
    for table in ("tokens", "mentions"):
        rows = [row for row in read_rows(files[table]) if row["doc"] in names]
        write_rows(target / f"{table}.csv", rows)
    return target


def shuffled_copy(source, target):
    """A copy whose clusters, and all that gives them away, are dealt out anew in each document."""
    part_of(source, target, 108)
    rows = read_rows(target / "mentions.csv")
    pronouns = {"his", "he", "it", "its", "they", "this", "that", "herself", "their", "them"}
    tokens = {
        (t["doc"], t["sent"], t["token"]): t["form"].lower()
        for t in read_rows(target / "tokens.csv")
    }
    rng = random.Random(1)
    for name in {row["doc"] for row in rows}:
        own = [row for row in rows if row["doc"] == name]
        for column in (LABEL_COLUMN, *LEAKING_COLUMNS):
            values = [row[column] for row in own]
            rng.shuffle(values)
            for row, drawn in zip(own, values, strict=True):
                row[column] = drawn
    for row in rows:  # a pronoun's type is its antecedent's
        if tokens[row["doc"], row["sent"], row["head_token"]] in pronouns:
            row["entity_type"] = rng.choice(["person", "place", "event"])
    write_rows(target / "mentions.csv", rows)
    return target


def assert_blind(source, folder):
    before = read_gum_coref(source)
    after = read_gum_coref(shuffled_copy(source, folder / "shuffled"))
    moved = 0
    for a, b in zip(before.blocks, after.blocks, strict=True):
        assert a.ids == b.ids and a.features.tobytes() == b.features.tobytes()
        moved += not np.array_equal(a.labels, b.labels)
    assert moved >= len(before.blocks) - 1  # the shuffle did something


def test_features_do_not_see_the_clusters(tmp_path):
    assert_blind(write_gum(tmp_path / "gum"), tmp_path)


def test_types_can_be_left_out(tmp_path):
    root = write_gum(tmp_path)
    with_types, without = read_gum_coref(root), read_gum_coref(root, "none")
    place = FEATURE_NAMES.index("type_differs")
    assert with_types.blocks[0].features[:, place].any()
    assert not without.blocks[0].features[:, place].any()
    assert value(without.blocks[0].features, "gender_same", "obama", "he") == 1


@pytest.fixture(scope="module")
def real_part(data_dir, tmp_path_factory):
    if not (data_dir / "gum_coref").is_dir():
        pytest.skip("gum_coref is not below SUPCLUST_DATA")
    return part_of(data_dir / "gum_coref", tmp_path_factory.mktemp("real") / "part", SOME)


@pytest.mark.data
def test_features_of_real_documents_do_not_see_the_clusters(real_part, tmp_path):
    assert_blind(real_part, tmp_path)


@pytest.mark.data
def test_features_of_a_real_document_are_the_oracles(real_part):
    document, _ = min(read_documents(real_part), key=lambda pair: pair[0].n)
    check_against_oracle(document, pair_features(describe(document)))


@pytest.mark.data
def test_no_feature_alone_knows_the_clusters(real_part):
    data = read_gum_coref(real_part)
    features = np.concatenate([block.features for block in data.blocks])
    same = []
    for block in data.blocks:
        i, j = np.triu_indices(block.n, 1)
        same.append(block.labels[i] == block.labels[j])
    together = np.concatenate(same)
    aucs = {name: auc(features[:, k], together) for k, name in enumerate(FEATURE_NAMES)}
    best = sorted(aucs.items(), key=lambda item: -abs(item[1] - 0.5))
    assert abs(best[0][1] - 0.5) < 0.4, f"too good to be true: {best[:3]}"
    for name in ("same_head_lemma", "pronoun_agrees", "type_same"):
        assert aucs[name] > 0.55  # and they are of use


def auc(score, truth):
    """Chance that a pair of a cluster scores higher than another pair, ties half."""
    _, place = np.unique(score, return_inverse=True)
    positive = np.bincount(place, weights=truth)
    negative = np.bincount(place) - positive
    below = np.cumsum(negative) - negative / 2
    return float((positive * below).sum() / (positive.sum() * negative.sum()))
