"""`supclust report` on real small runs: complete, escaped, self-contained, written atomically."""

from __future__ import annotations

import json
import os
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from report_pages import ATTACK, BLOCK, CLUSTER, ERROR, POINT, Page, hostile_outputs
from supclust.cli.main import main
from supclust.experiment.provenance import source_commit
from supclust.model.aggregate import summarise
from supclust.report.data import ReportOptions, gather
from supclust.report.results_page import results_page

pytestmark = pytest.mark.timeout(600)  # the first compilation, on a busy machine


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_outputs(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def source(outputs: Path) -> str:
    return results_page(gather(outputs))


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


@pytest.fixture
def copied(outputs: Path, tmp_path: Path) -> Path:
    """Results that a test may damage; models are found beside them."""
    return shutil.copytree(outputs, tmp_path / "outputs")


def test_every_part_is_there_in_order_of_headings(page: Page) -> None:
    found = page.text
    for heading in (
        "Scores", "Split by split", "Where to cut", "The tree of a test block", "Training",
        "Alpha, the learned linkage", "Failed runs (1)", "Where the numbers come from",
    ):  # fmt: skip
        assert heading in found
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_commit_is_shown(copied: Path, page: Page) -> None:
    assert (source_commit() or "not recorded") in page.text
    for path in copied.rglob("result.json"):
        old = {key: v for key, v in json.loads(path.read_text()).items() if key != "commit"}
        path.write_text(json.dumps(old))
    page = Page(results_page(gather(copied, ReportOptions(trees=False))))
    assert "not recorded" in page.text  # as for results of older versions


def test_the_table_has_every_cell(outputs: Path, page: Page) -> None:
    cells = summarise(gather(outputs, ReportOptions(trees=False)).groups[0].results)
    assert len(cells) == 16
    words = page.text
    for cell in cells:
        assert f"{100 * cell.mean:.1f}" in words
    best = [td for td in page.all("td") if td.get("class") == "best"]
    marked = [(cell.metric, cell.linkage) for cell in cells if cell.mark == "best"]
    assert len(best) == len(marked) and len(set(marked)) == 8  # one per column; ties share it


def test_every_split_is_a_dot_of_every_linkage_and_metric(page: Page) -> None:
    dots = [use for use in page.all("use") if "data-split" in use]
    alphas = 2 * 2  # objectives x splits
    assert len(dots) == 2 * 2 * 4 * 2 + alphas
    assert {dot["data-split"] for dot in dots} == {"0", "1"}


def test_recomputed_trees_give_the_stored_scores(outputs: Path, page: Page) -> None:
    group = gather(outputs).groups[0]
    assert group.trees is not None
    assert group.trees.result["split"] == 0 and list(group.trees.linkages)[-1] == "exp"
    for trees in group.trees.linkages.values():
        assert trees.f1_recomputed == pytest.approx(trees.f1_stored, abs=1e-9)
        assert trees.test is not None and trees.threshold is not None
    assert "4 test F1 scores agree with the stored ones" in page.text


def test_hostile_names_are_text_and_nothing_else(source: str, page: Page) -> None:
    tree = page.data["tree0"]
    assert tree["blocks"][0]["name"].startswith(BLOCK[:60])
    assert any(name.startswith(POINT[:40]) for name in tree["blocks"][0]["ids"])
    assert any(name.startswith(CLUSTER[:40]) for name in tree["blocks"][0]["clusters"])
    assert ERROR in page.text
    assert ATTACK not in source and "<!-- " not in source and "\u2028" not in source
    scripts = page.all("script")
    assert len(scripts) == 2  # the data of one tree, and our own
    handlers = [key for _, attributes in page.elements for key in attributes if key[:2] == "on"]
    assert handlers == []
    assert not page.all("img")


def test_the_page_loads_nothing(source: str, page: Page) -> None:
    known = "http://www.w3.org/2000/svg"  # the name of a namespace, not an address
    assert set(re.findall(r"\w*https?://[^\s\"']+", source)) <= {known}
    assert "@import" not in source and "url(" not in source.replace("url(#", "")
    for _, attributes in page.elements:
        for key in ("src", "href", "srcset", "action", "data", "poster"):
            assert (attributes.get(key) or "#").startswith(("#", "data:"))
    policy = next(m["content"] for m in page.all("meta") if m.get("http-equiv"))
    assert policy is not None and "default-src 'none'" in policy and "script-src 'sha256-" in policy


def test_controls_and_figures_have_names(page: Page) -> None:
    for button in page.all("button"):
        assert button["aria-label"]
    for svg in page.all("svg"):
        assert svg.get("aria-label") or svg.get("aria-hidden") == "true"
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for key in ("aria-labelledby", "aria-describedby", "aria-controls", "for"):
            assert attributes.get(key) is None or attributes[key] in ids


def test_a_stand_in_is_announced_loudly(copied: Path) -> None:
    for path in copied.rglob("result.json"):
        result = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**result, "source": "stand-in"}), encoding="utf-8")
    page = Page(results_page(gather(copied, ReportOptions(trees=False))))
    assert "STAND-IN DATA" in page.text
    assert any(div.get("class") == "warning" for div in page.all("div"))


def test_data_that_have_changed_leave_the_tree_out_with_a_note(copied: Path, outputs: Path) -> None:
    points = outputs.parent / "points.csv"
    before = points.read_text(encoding="utf-8")
    try:
        points.write_text(before.replace(",0.", ",1.").replace(",-0.", ",-1."), encoding="utf-8")
        changed = Page(results_page(gather(copied)))
        points.unlink()
        gone = Page(results_page(gather(copied)))
    finally:
        points.write_text(before, encoding="utf-8")
    assert "is not the one of the run" in changed.text and changed.data == {}
    assert "its data cannot be read" in gone.text and gone.data == {}
    assert "Scores" in gone.text


def test_a_lost_model_leaves_the_tree_out_with_a_note(copied: Path) -> None:
    shutil.rmtree(copied / "trainings")
    page = Page(results_page(gather(copied)))
    assert "is not there" in page.text and page.data == {}
    assert "4 training records are not there" in page.text


def test_unreadable_results_are_listed(copied: Path) -> None:
    broken = next(copied.rglob("split-0/result.json"))
    broken.write_text('{"status": "do', encoding="utf-8")
    page = Page(results_page(gather(copied, ReportOptions(trees=False))))
    assert "Results that cannot be read" in page.text and str(broken) in page.text


def test_only_failures_make_a_page_too(copied: Path) -> None:
    for path in copied.rglob("result.json"):
        if path.parent.name != "split-2":
            path.unlink()
    page = Page(results_page(gather(copied)))
    assert "Failed runs (1)" in page.text and ERROR in page.text


def test_the_command_writes_the_page_and_says_so(
    outputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "deep" / "page.html"
    words = ["--objective", "all_pairs", "--linkage", "single", "--split", "1"]
    assert main(["report", str(outputs), "-o", str(path), *words]) == 0
    assert capsys.readouterr().out.startswith(f"{path}: ")
    page = Page(path.read_text(encoding="utf-8"))
    assert "all_pairs, split 1, seed 0" in page.text
    assert page.text.index("single (alpha −∞)") < page.text.index("exp (alpha")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--split", "7"], "--split must be among the finished results; received 7. There: 0, 1"),
        (["--linkage", "ward"], "--linkage must be .* There: single, average, complete, exp"),
        (["--objective", "best"], "--objective must be .* There: all_pairs, exp_alpha"),
        (["-o", "."], "-o needs a file; received the folder"),
    ],
)
def test_wrong_options_are_refused(
    outputs: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(outputs), *words]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_a_folder_without_results_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "r.html")]) == 2
    assert "no readable result below" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "none")]) == 2
    assert "a folder of results is needed" in capsys.readouterr().err


def test_a_page_that_cannot_be_finished_leaves_the_old_one(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")

    def refuse(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", refuse)
    assert main(["report", str(outputs), "-o", str(path), "--no-trees"]) in (1, 2)
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
