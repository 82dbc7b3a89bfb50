"""From a bare table to entities, through the commands."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from person_tables import persons, write
from supclust.cli.fit.bare_table import learned_lines
from supclust.cli.main import main
from supclust.metrics import pairwise_scores
from supclust.model import load
from supclust.resolve.forest_scores import labelled_scores


def run(*words):
    return main([str(word) for word in words])


def clusters(path):
    with path.open() as stream:
        return np.array([int(row["cluster"]) for row in csv.DictReader(stream)])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")
    rows, labels = persons(120)
    known = [f"p{k}" if k < 80 else "" for k in labels]
    assert run("fit", write(folder / "t.csv", rows, known), "--label", "entity", "-o",
               folder / "m") == 0  # fmt: skip
    return folder / "m"


def test_new_records_are_clustered(model, tmp_path):
    rows, labels = persons(60, seed=1)
    table = write(tmp_path / "new.csv", rows)
    assert run("cluster", table, "--model", model, "-o", tmp_path / "e.csv") == 0
    assert pairwise_scores(labels, clusters(tmp_path / "e.csv")).f1 > 0.9


@pytest.mark.parametrize("command", ["fit", "check"])
def test_the_label_minus_one_is_said_to_be_a_name(command, tmp_path, capsys):
    rows, labels = persons(30)
    table = write(tmp_path / "t.csv", rows, [k if k < 20 else -1 for k in labels])
    words = ["fit", table, "--label", "entity", "-o", tmp_path / "m"]
    assert run(*(words if command == "fit" else ["data", "check", table, *words[2:4]])) == 0
    many = sum(k >= 20 for k in labels)
    assert (
        f"{many} records have the label -1, which is taken as the name" in capsys.readouterr().out
    )


def test_the_model_keeps_rules_and_true_scores(model):
    loaded = load(model)
    facts = loaded.record["entities"]
    assert loaded.records["layout"] == "table"
    assert loaded.records["candidates"]
    assert facts["complete"] and "complete" in facts["reason"]
    assert facts["never_compared"] == 0  # a small table: all pairs
    assert loaded.record["dev"]["pairwise_f1"] > 0.9


def test_a_table_beyond_all_pairs_uses_the_rules(model, tmp_path, capsys):
    rows, labels = persons(1100, seed=2)
    table = write(tmp_path / "new.csv", rows)
    assert run("cluster", table, "--model", model, "-o", tmp_path / "e.csv") == 0
    assert "satisfy a rule" in capsys.readouterr().out
    assert pairwise_scores(labels, clusters(tmp_path / "e.csv")).f1 > 0.85


def test_a_single_labelled_entity_is_enough(tmp_path, capsys):
    rows, labels = persons(60)
    first = np.bincount(labels).argmax()
    known = ["one" if k == first else "" for k in labels]
    table = write(tmp_path / "t.csv", rows, known)
    assert run("fit", table, "--label", "entity", "-o", tmp_path / "m") == 0
    assert "1 entity\n" in capsys.readouterr().out
    assert run("cluster", table, "--model", tmp_path / "m", "-o", tmp_path / "e.csv") == 0
    assert "confidence" not in (tmp_path / "e.csv").read_text()  # nothing could be held out


def test_fit_says_which_records_the_scores_are_of(tmp_path, capsys):
    rows, labels = persons(60)
    rows = [{**row, "remark": "a customer of " + "many years, " * 4 + str(k)}
            for k, row in enumerate(rows)]  # fmt: skip
    table = write(tmp_path / "t.csv", rows, [f"p{k}" if k < 40 else "" for k in labels])
    for asked, said in (
        ("partial", "of labelled records only, pairs never compared included"),
        ("complete", "unlabelled records and pairs never compared included"),
    ):
        words = ("--label", "entity", "--labelled", asked, "-o", tmp_path / "m")
        assert run("fit", table, *words) == 0
        text = capsys.readouterr().out
        assert said in text
        assert "'a customer of many years, m...'" in text  # cut inside its quotes
        assert "rules are for larger ones" in text


def test_fit_warns_where_complete_labels_stop(tmp_path, capsys):
    rows, labels = persons(100)
    for k, row in enumerate(rows):
        row["entered"] = str(2016 + k % 5)
    known = [
        k if k < 80 and row["entered"] < "2020" else "" for row, k in zip(rows, labels, strict=True)
    ]
    table = write(tmp_path / "t.csv", rows, known)
    words = ("fit", table, "--label", "entity", "-o", tmp_path / "m", "--labelled")
    assert run(*words, "complete") == 0
    assert "warning: entered 2020: 0 of 60 records have a label" in capsys.readouterr().out
    assert run(*words, "complete", "--where", "entered<2020") == 0
    assert "warning" not in capsys.readouterr().out
    assert run(*words, "partial") == 0
    assert "warning" not in capsys.readouterr().out


def test_rules_that_miss_their_goal_say_so(tmp_path, capsys):
    rows, labels = persons(60)
    table = write(tmp_path / "t.csv", rows, labels)
    words = ("fit", table, "--label", "entity", "-o", tmp_path / "m")
    assert run(*words, "--max-pairs", 0.5) == 0
    out = capsys.readouterr().out
    assert "not 99.9%: no further rule within 0.5 pairs per record adds to it" in out
    assert run(*words) == 0
    assert "no further rule" not in capsys.readouterr().out


def test_rules_by_hand_say_what_they_lose(tmp_path, capsys):
    rows, labels = persons(60)
    table = write(tmp_path / "t.csv", rows, labels)
    rules = "zip, given & year(born)"
    words = ("fit", table, "--label", "entity", "--candidates", rules, "-o", tmp_path / "m")
    assert run(*words) == 0
    described = load(tmp_path / "m").records
    assert [one["rule"] for one in described["candidates"]] == ["zip", "given & year(born)"]
    share = load(tmp_path / "m").record["entities"]["never_compared"]
    assert 0 < share < 0.5
    assert f"{share:.1%} are never compared" in capsys.readouterr().out


def test_records_that_share_a_distinct_value_stay_apart(tmp_path):
    rows, labels = persons(40)
    for k, row in enumerate(rows):
        row["source"] = f"s{k // 2}"  # two records of one source, often of one person
    table = write(tmp_path / "t.csv", rows, labels)
    words = ("fit", table, "--label", "entity", "--distinct", "source", "-o", tmp_path / "m")
    assert run(*words) == 0
    assert run("cluster", table, "--model", tmp_path / "m", "-o", tmp_path / "e.csv") == 0
    found = clusters(tmp_path / "e.csv")
    assert (found[0::2] != found[1::2]).all()


@pytest.mark.parametrize(
    "words",
    [
        ("--distinct", "source"),
        ("--labelled", "complete"),
        ("--block", "b", "--distinct", "source"),
    ],
)
def test_options_that_vectors_do_not_take_are_refused(words, tmp_path, capsys):
    table = tmp_path / "t.csv"
    rows = "".join(f"{k // 4},{k % 2},{k / 7:.4f},{k % 5},{k // 2}\n" for k in range(40))
    table.write_text("entity,b,x,y,source\n" + rows)
    assert run("fit", table, "--label", "entity", *words, "-o", tmp_path / "m") == 2
    error = capsys.readouterr().err
    assert "received numbers only" in error and words[-2] in error
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--label", "none"), "not found"),
        (("--label", "unique"), "two records with one label; column 'unique' has no value twice"),
        (("--label", "empty"), "column 'empty' has no value in any record. Fill in the entity"),
        (("--pairs", "judged.csv"), "judged pairs that match; there are none. Judge more pairs"),
        (("--label", "entity", "--candidates", "nothing"), "name column 'nothing'"),
        (("--label", "entity", "--candidates", "zip", "--epochs", "3"), "received both"),
        (("--label", "entity", "--labelled", "perhaps"), None),
    ],
)
def test_errors_say_what_to_do(words, message, tmp_path, monkeypatch, capsys):
    rows, labels = persons(10)
    for k, row in enumerate(rows):
        row |= {"unique": f"u{k}", "empty": ""}
    table = write(tmp_path / "t.csv", rows, labels)
    (tmp_path / "judged.csv").write_text("id_a,id_b,match\nu0,u1,0\n")
    monkeypatch.chdir(tmp_path)
    command = ["fit", table, *words, "-o", tmp_path / "m"]
    if message is None:
        with pytest.raises(SystemExit):
            run(*command)
        return
    assert run(*command) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


def test_a_model_of_a_table_refuses_blocks(model, tmp_path, capsys):
    rows, _ = persons(5)
    table = write(tmp_path / "t.csv", rows)
    out = tmp_path / "e.csv"
    assert run("cluster", table, "--model", model, "--n-clusters", 3, "-o", out) == 2
    assert "without blocks" in capsys.readouterr().err


def test_a_table_separated_by_semicolons_is_refused_with_a_hint(model, tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("given;surname;born;zip\nann;smith;1990-01-01;12345\n")
    out = tmp_path / "e.csv"
    for words in (("cluster", table, "--model", model, "-o", out),
                  ("fit", table, "--pairs", table, "-o", tmp_path / "m")):  # fmt: skip
        assert run(*words) == 2
        error = capsys.readouterr().err
        assert "Separate columns by commas" in error and "rename them" not in error


def test_ids_of_several_records_are_said_and_change_nothing(model, tmp_path, capsys):
    rows, labels = persons(20, seed=1)
    written = {}
    for name, ids in (
        ("one", ["r1"] * 60),
        ("none", None),
        ("own", [f"r{k:02}" for k in range(60)]),
    ):
        named = (
            rows if ids is None else [{"id": id, **row} for id, row in zip(ids, rows, strict=True)]
        )
        table = write(tmp_path / "t.csv", named, labels)
        assert run("data", "check", table, "--label", "entity") == 0
        checked = capsys.readouterr().out
        assert run("cluster", table, "--model", model, "-o", tmp_path / f"{name}.csv") == 0
        warned = capsys.readouterr().err
        assert ("note: the id 'r1' occurs 60 times (column id)" in checked) == (name == "one")
        assert ("warning: the id 'r1' occurs 60 times;" in warned) == (name == "one")
        written[name] = clusters(tmp_path / f"{name}.csv").tolist()
    assert written["one"] == written["none"] == written["own"]


def test_columns_that_tell_nothing_are_said(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [{"code": "".join(rng.choice(list("abcdefgh"), 6)), "colour": rng.choice(list("rgb"))}
            for _ in range(90)]  # fmt: skip
    table = write(tmp_path / "t.csv", rows, np.arange(90) // 3)
    assert run("fit", table, "--label", "entity", "-o", tmp_path / "m") == 0
    assert "warning: the columns hardly tell the entities apart" in capsys.readouterr().out


def test_what_was_learned_says_poor_scores_and_small_losses(model):
    loaded = load(model)
    facts = {**loaded.record["entities"], "log_losses": {"logistic": 0.00012345, "boosted": 4e-6}}
    names = ("pairwise_f1", "precision", "recall", "dendrogram_purity")
    for scores, said in (
        ((0.0, 0.0, 0.0, None), "almost all records of one entity stay apart"),
        ((0.02, 0.01, 0.9, None), "clusters mix records of different entities"),
        ((0.5, 0.9, 0.4, None), None),
    ):
        dev = dict(zip(names, scores, strict=True))
        record = {**loaded.record, "entities": facts, "dev": dev}
        text = "\n".join(learned_lines(replace(loaded, record=record)))
        assert "logistic 0.000123, boosted 4e-06" in text
        assert text.count("hardly tell the entities apart") == (said is not None)
        assert said is None or said in text
    of_judged = replace(loaded, record={**record, "dev": {**dev, "pairwise_f1": 0}, "bcubed": None})
    assert "hardly tell" not in "\n".join(learned_lines(of_judged))  # they may be very few


def test_scores_count_strangers():
    labels = np.array([0, 0, 1, 1, -1, -1])
    found = np.array([0, 0, 1, 2, 0, 3])
    scores = labelled_scores(labels, found, complete=True)
    # Cluster 0: one true pair and two half pairs with the stranger; entity 1 is split.
    assert scores.precision == pytest.approx(1 / 2)
    assert scores.recall == pytest.approx(1 / 2)
    assert labelled_scores(labels, found, complete=False).precision == 1


def test_candidates_are_exported_and_sql_joins_the_same_pairs(model, tmp_path, capsys):
    duckdb = pytest.importorskip("duckdb")
    rows, _ = persons(80, seed=3)
    table = write(tmp_path / "t.csv", rows)
    out = ("-o", tmp_path / "pairs.parquet", "--keys", tmp_path / "keys.parquet", "--sql")
    assert run("candidates", table, "--model", model, *out) == 0
    text = capsys.readouterr().out
    joined = set(duckdb.sql(text[text.index("SELECT") :]).fetchall())
    exported = duckdb.sql(f"SELECT a, b FROM '{tmp_path / 'pairs.parquet'}'").fetchall()
    assert joined == set(exported)
    assert len(joined) == len(exported) > 80


def test_candidates_say_which_labelled_pairs_are_lost(model, tmp_path, capsys):
    rows, labels = persons(80, seed=3)
    table = write(tmp_path / "t.csv", rows, labels)
    words = ("candidates", table, "--model", model)
    assert run(*words, "--candidates", "zip") == 0
    zips = [row["zip"] for row in rows]
    same = [(i, j) for i in range(240) for j in range(i) if labels[i] == labels[j]]
    lost = sum(not zips[i] or zips[i] != zips[j] for i, j in same) / len(same)
    text = capsys.readouterr().out
    assert f"of the labelled pairs, {lost:.1%} are never compared" in text
    assert "compares all pairs" not in text
    assert run(*words) == 0
    assert "cluster compares all pairs of a table of 240 records" in capsys.readouterr().out
    assert run(*words, "--label", "nothing") == 2
    assert "nothing" in capsys.readouterr().err
    assert run("candidates", write(tmp_path / "u.csv", rows), "--model", model) == 0
    assert "labelled" not in capsys.readouterr().out


def test_candidates_of_a_model_with_blocks_are_of_one_block(tmp_path, capsys):
    rows, labels = persons(80)
    for row in rows:
        row["letter"] = row["surname"][0]
    table = write(tmp_path / "t.csv", rows, [k if k < 50 else "" for k in labels])
    fit = ("fit", table, "--label", "entity", "--block", "letter", "--labelled", "complete")
    assert run(*fit, "-o", tmp_path / "m") == 0
    letters = [row["letter"] for row in rows]
    pairs = sum(letters[i] == letters[j] for i in range(240) for j in range(i))
    capsys.readouterr()
    assert run("candidates", table, "--model", tmp_path / "m") == 0
    assert f"{pairs:,}" in capsys.readouterr().out


def test_explain_names_rules_and_features(model, capsys):
    assert run("explain", model) == 0
    text = capsys.readouterr().out
    assert "never compared" in text
    assert load(model).records["candidates"][0]["rule"] in text
    assert "surname: " in text


def test_a_wide_table_is_clustered_without_its_useless_columns(tmp_path, capsys):
    rows, labels = persons(400)
    rng = np.random.default_rng(5)
    rows = [{**row, **{f"flag{k}": "ab"[rng.integers(2)] for k in range(12)}} for row in rows]
    table, out = tmp_path / "table.csv", tmp_path / "out.csv"
    write(table, rows, labels)
    rules = "surname & flag0, zip, born & given"
    fit = ["fit", str(table), "--label", "entity", "-o", str(tmp_path / "model")]
    assert main([*fit, "--candidates", rules]) == 0
    assert "are not compared: flag" in capsys.readouterr().out
    columns = load(tmp_path / "model").records["columns"]
    assert "flag0" in columns
    assert len(columns) < len(rows[0])
    small = tmp_path / "small.csv"
    write(small, [{name: row[name] for name in columns} for row in rows])
    assert main(["cluster", str(small), "--model", str(tmp_path / "model"), "-o", str(out)]) == 0
