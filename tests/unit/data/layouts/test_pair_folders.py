from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import numpy as np
import pytest

from supclust.data import DataError
from supclust.data.layouts.pair_folders import read_pair_block, read_pair_folders
from supclust.data.sets.aminer import read_aminer

CLUSTERS = {"10": "x", "7": "y", "3": "x", "9": "z"}


def pair_lines(clusters: dict[str, str] = CLUSTERS) -> list[str]:
    """Lines `a,b,index,0.5,flag` of every pair, in condensed order."""
    pairs = itertools.combinations(clusters, 2)
    return [f"{a},{b},{k},0.5,{int(clusters[a] == clusters[b])}" for k, (a, b) in enumerate(pairs)]


def write_block(
    folder: Path,
    lines: list[str] | None = None,
    clusters: list[str] | None = None,
    name: str = "pairFeatures.csv",
) -> Path:
    folder.mkdir(parents=True)
    points = [f"{i}\t{c}" for i, c in CLUSTERS.items()] if clusters is None else clusters
    (folder / "gtClusters.tsv").write_text("\n".join(points) + "\n")
    text = "\n".join(pair_lines() if lines is None else lines) + "\n"
    if name.endswith(".gz"):
        with gzip.open(folder / name, "wt") as stream:
            stream.write(text)
    else:
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("name", ["csv", "tsv", "csv.gz", "tsv.gz"])
@pytest.mark.parametrize("separator", [",", "\t", " ", ", "])
def test_every_spelling_reads_the_same(tmp_path, name, separator):
    lines = [line.replace(",", separator) for line in pair_lines()]
    block = read_pair_block(write_block(tmp_path / "b", lines, name=f"pairFeatures.{name}"))
    assert block.name == "b" and block.ids == ("10", "7", "3", "9")
    assert block.cluster_names == ("x", "y", "z") and block.labels.tolist() == [0, 1, 0, 2]
    # The flag is gone, the rest is there.
    assert block.features.tolist() == [[k, 0.5] for k in range(6)]


def test_order_of_lines_and_of_ids_in_a_line_does_not_matter(tmp_path):
    lines = []
    for line in reversed(pair_lines()):
        a, b, *rest = line.split(",")
        lines.append(",".join([b, a, *rest]))
    block = read_pair_block(write_block(tmp_path / "b", lines))
    assert block.features[:, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_file_without_the_flag_column(tmp_path):
    lines = [line.rsplit(",", 1)[0] for line in pair_lines()]
    folder = write_block(tmp_path / "b", lines)
    assert read_pair_block(folder, flag=False).d == 2
    with pytest.raises(
        DataError, match=r"csv:1: the last field must be .*received 0.5.*flag=false"
    ):
        read_pair_block(folder)


def changed(line: int, text: str) -> list[str]:
    lines = pair_lines()
    lines[line - 1] = text
    return lines


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (changed(3, "10,9,two,0.5,0"), r"csv:3: field 3 must be a finite number; received 'two'"),
        (changed(3, "10,9,,0.5,0"), r"csv:3: field 3 must be a finite number; received ''"),
        (changed(3, "10,9,nan,0.5,0"), r"csv:3: field 3 must be a finite number; received 'nan'"),
        (changed(2, "10,3,1,inf,1"), r"csv:2: field 4 must be a finite number; received 'inf'"),
        (changed(4, "7,3,3,0.5,0,0"), r"csv:4: expected 5 fields as in the first line; received 6"),
        (changed(4, "7,3,3,0.5"), r"csv:4: expected 5 fields as in the first line; received 4"),
        (changed(5, "7,8,4,0.5,0"), r"csv:5: id '8' has no cluster in .*gtClusters.tsv"),
        (
            changed(5, "7,7,4,0.5,1"),
            r"csv:5: a pair needs two different points; received '7' twice",
        ),
        (changed(6, "7,10,5,0.5,0"), r"csv:6: the pair '7', '10' is repeated, .* on line 1"),
        (pair_lines()[:4], r"csv: 2 of 6 pairs are missing, the first is '7', '9'"),
        (changed(1, "10,7,0,0.5,1"), r"csv:1: the last field says 1 .* in different clusters"),
        (changed(2, "10,3,1,0.5,0"), r"csv:2: the last field says 0 .* in the same cluster"),
        (changed(2, "10,3,1,0.5,2"), r"csv:2: the last field must be the same-cluster flag"),
        ([""], r"csv: is empty"),
        (["10,7,1"], r"csv:1: expected 2 ids followed by at least 2 number"),
    ],
)
def test_mistakes_in_pairs_are_reported_with_file_and_line(tmp_path, lines, message):
    with pytest.raises(DataError, match=message):
        read_pair_block(write_block(tmp_path / "b", lines))


def test_blank_lines_count_as_lines(tmp_path):
    lines = ["", *changed(5, "7,8,4,0.5,0")]
    lines.insert(3, "")
    with pytest.raises(DataError, match=r"csv:7: id '8'"):
        read_pair_block(write_block(tmp_path / "b", lines))


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (["1\t0", "2\t0", "1\t1"], r"gtClusters.tsv:3: id '1' is repeated, .* on line 1"),
        (["1\t0", "2"], r"gtClusters.tsv:2: expected `id cluster`; received 1"),
        (["1\t0\t5"], r"gtClusters.tsv:1: expected `id cluster`; received 3"),
        ([""], r"gtClusters.tsv: is empty"),
    ],
)
def test_mistakes_in_clusters_are_reported_with_file_and_line(tmp_path, clusters, message):
    with pytest.raises(DataError, match=message):
        read_pair_block(write_block(tmp_path / "b", clusters=clusters))


def test_a_truncated_gzip_file_is_reported(tmp_path):
    folder = write_block(tmp_path / "b", name="pairFeatures.csv.gz")
    path = folder / "pairFeatures.csv.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(DataError, match=r"pairFeatures.csv.gz: is damaged"):
        read_pair_block(folder)


def test_two_pair_files_are_ambiguous(tmp_path):
    folder = write_block(tmp_path / "b")
    (folder / "pairFeatures.tsv").write_text("x")
    with pytest.raises(DataError, match="keep one of them"):
        read_pair_block(folder)


def test_a_block_without_features_is_left_out_visibly(tmp_path):
    for name in "cab":
        write_block(tmp_path / name)
    (tmp_path / "c" / "pairFeatures.csv").unlink()
    data = read_pair_folders(tmp_path, sizes={3: (1, 1, 1)})
    assert [block.name for block in data.blocks] == ["a", "b"]
    assert data.notes[0] == "block c left out: it has no pair features"
    assert "2 blocks where 3 were expected" in data.notes[1] and data.sizes is None


def test_blocks_need_the_same_features(tmp_path):
    write_block(tmp_path / "a")
    write_block(tmp_path / "b", [line.replace(",0.5", "") for line in pair_lines()])
    with pytest.raises(DataError, match=r"b/pairFeatures.csv: has 1 features where block a has 2"):
        read_pair_folders(tmp_path)


def test_a_folder_without_blocks_says_what_is_expected(tmp_path):
    with pytest.raises(DataError, match=r"expected folders with gtClusters\.tsv"):
        read_pair_folders(tmp_path)


def test_reading_does_not_depend_on_exactness_of_small_numbers(tmp_path):
    lines = changed(1, "10,7,1e-30,0.42508959770202637,0")
    block = read_pair_block(write_block(tmp_path / "b", lines))
    assert block.features[0].tolist() == [np.float32(1e-30), np.float32(0.42508959770202637)]


def write_aminer(root: Path, records: str = "4", chosen: str = "1") -> Path:
    write_block(root / "blocks" / "A_B")
    write_block(root / "blocks" / "C_D")
    rows = ["block,folder,records,pairs,clusters,in_100"]
    rows += [f"A B,A_B,{records},6,3,{chosen}", "C D,C_D,4,6,3,0"]
    (root / "blocks.csv").write_text("\n".join(rows) + "\n")
    return root


def test_aminer_reads_the_blocks_of_the_hundred(tmp_path):
    data = read_aminer(write_aminer(tmp_path))
    assert [block.name for block in data.blocks] == ["A_B"]


def test_aminer_checks_its_index(tmp_path):
    with pytest.raises(DataError, match=r"4 records \(6 pairs\), blocks.csv says 5"):
        read_aminer(write_aminer(tmp_path / "1", records="5"))
    with pytest.raises(DataError, match=r"blocks.csv:2: expected a number of records"):
        read_aminer(write_aminer(tmp_path / "2", records="many"))
    with pytest.raises(DataError, match="no row has in_100 = 1"):
        read_aminer(write_aminer(tmp_path / "3", chosen="0"))


@pytest.mark.data
def test_real_rexa(data_dir):
    if not (data_dir / "rexa").is_dir():
        pytest.skip("no rexa below SUPCLUST_DATA")
    data = read_pair_folders(data_dir / "rexa", sizes={7: (3, 2, 2), 8: (3, 2, 3)})
    assert (len(data.blocks), data.n, data.n_clusters, data.n_pairs) == (7, 988, 208, 96694)
    assert data.d == 14 and data.sizes == (3, 2, 2)
    assert data.notes == ("block jones_s left out: it has no pair features",)


@pytest.mark.data
def test_real_aminer(data_dir):
    if not (data_dir / "aminer").is_dir():
        pytest.skip("no aminer below SUPCLUST_DATA")
    data = read_aminer(data_dir / "aminer")
    assert (len(data.blocks), data.n, data.n_clusters) == (100, 6730, 1257)
    assert data.n_pairs == 459_939 and data.d == 8 and data.sizes == (60, 10, 30)
    values = np.concatenate([block.features for block in data.blocks])
    assert np.isin(values[:, [0, 2, 3, 4, 5, 7]], (0, 1)).all()
    assert values[:, 1].max() == 28 and 0 <= values[:, 6].min() <= values[:, 6].max() <= 1
