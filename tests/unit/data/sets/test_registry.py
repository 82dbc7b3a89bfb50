from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from supclust.data import DataError, check_path, list_datasets, load_dataset, split_dataset

NAMES = ["faces", "rexa", "aminer", "np_coref", "gum_coref", "vectors", "pairs"]


def write_pairs(root, blocks="abc"):
    for name in blocks:
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "gtClusters.tsv").write_text("0\tx\n1\tx\n2\ty\n")
        (folder / "pairFeatures.csv").write_text("0,1,0.5,1\n0,2,0.25,0\n1,2,0.125,0\n")


def test_stand_ins_say_so_loudly(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        data = load_dataset("rexa", data_dir=tmp_path, cache_dir=tmp_path / "cache")
    assert data.source == "stand-in" and data.notes[-1].startswith("STAND-IN")
    assert "STAND-IN" in caplog.text
    again = load_dataset("rexa", cache_dir=tmp_path / "cache", source="stand-in")
    assert again.notes == data.notes and again.digest() == data.digest()
    other = load_dataset("rexa", cache_dir=tmp_path / "cache", seed=1)
    assert other.digest() != data.digest()


def test_real_data_are_taken_where_they_are(tmp_path):
    write_pairs(tmp_path / "rexa")
    data = load_dataset("rexa", data_dir=tmp_path, cache_dir=tmp_path / "cache")
    assert data.source == "real" and data.n == 9
    assert [len(part) for part in split_dataset(data, 0)] == [1, 1, 1]
    forced = load_dataset(
        "rexa", data_dir=tmp_path, cache_dir=tmp_path / "cache", source="stand-in"
    )
    assert forced.source == "stand-in"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("faces", "supclust data fetch faces"),
        ("rexa", "supclust data fetch rexa"),
        ("aminer", "place there block folders: <block>/gtClusters.tsv .* blocks.csv beside it"),
        ("np_coref", "place there block folders: .* not public: .* SUPCLUST_DATA or dataset.path"),
        ("gum_coref", "place there documents.csv"),
    ],
)
def test_source_real_refuses_with_advice(tmp_path, name, advice):
    with pytest.raises(DataError, match=f"real '{name}' data are not at .*{advice}"):
        load_dataset(name, data_dir=tmp_path, source="real", cache_dir=tmp_path)


def test_changed_files_are_read_anew(tmp_path):
    write_pairs(tmp_path / "mine")
    arguments = {"path": tmp_path / "mine", "cache_dir": tmp_path / "cache"}
    before = load_dataset("pairs", **arguments)
    assert before.source == "file"
    (tmp_path / "mine" / "a" / "pairFeatures.csv").write_text("0,1,9,1\n0,2,8,0\n1,2,7,0\n")
    after = load_dataset("pairs", **arguments)
    assert before.blocks[0].features[0, 0] == 0.5 and after.blocks[0].features[0, 0] == 9


def test_own_vectors_and_pair_tables(tmp_path):
    (tmp_path / "v.csv").write_text("who,x,y\na,1,2\na,2,3\nb,4,5\nc,6,7\n")
    data = load_dataset("vectors", path=tmp_path / "v.csv", cache_dir=tmp_path, label="who")
    assert data.unit == "cluster" and [p[0].n_clusters for p in split_dataset(data, 0)] == [1] * 3
    (tmp_path / "p.csv").write_text("id_a,id_b,x\n0,1,2\n")
    (tmp_path / "l.csv").write_text("id,label\n0,a\n1,b\n")
    with pytest.raises(DataError, match=r"needs the table of labels too: dataset.labels=FILE"):
        load_dataset("pairs", path=tmp_path / "p.csv", cache_dir=tmp_path)
    pairs = load_dataset(
        "pairs", path=tmp_path / "p.csv", labels=str(tmp_path / "l.csv"), cache_dir=tmp_path
    )
    assert pairs.n == 2 and pairs.blocks[0].features.tolist() == [[2.0]]


def test_faces_of_the_authors(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        "\t".join([str(i), str(i // 2), *(f"{x:.2f}" for x in rng.normal(size=20))])
        for i in range(40)
    ]
    folder = tmp_path / "umist_faces"
    folder.mkdir()
    (folder / "faceData_20.tsv").write_text("\n".join(rows))
    data = load_dataset("faces", data_dir=tmp_path, cache_dir=tmp_path / "cache")
    assert (data.source, data.n, data.d, data.unit) == ("real", 40, 20, "cluster")
    assert data.sizes == (7, 6, 7) and data.balance == 0.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "enron"}, "must be one of faces, rexa, aminer, np_coref, gum_coref, vectors"),
        ({"name": "faces", "source": "fake"}, "source must be auto, real or stand-in"),
        ({"name": "faces", "dims": 3}, "no option 'dims'; it has dimensions, seed"),
        ({"name": "vectors"}, "needs a path: dataset.path="),
        ({"name": "vectors", "path": "missing.csv"}, "missing.csv: no such file or folder"),
    ],
)
def test_mistakes_are_explained(tmp_path, arguments, message):
    with pytest.raises(DataError, match=message):
        load_dataset(cache_dir=tmp_path, **arguments)


def test_a_mistyped_path_is_corrected(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "points.csv").write_text("label,x\na,1\n")
    for wrong in ("data/point.csv", "dat/points.csv"):
        with pytest.raises(DataError, match=r"no such file or folder\. Did you mean .*data"):
            load_dataset("vectors", path=tmp_path / wrong, cache_dir=tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=rf"folder below {tmp_path}\. Did you mean data/points.csv"):
        load_dataset("vectors", path="data/pints.csv", cache_dir=tmp_path)
    with pytest.raises(DataError, match=rf"qq/zz: no such file or folder below {tmp_path}\.$"):
        load_dataset("vectors", path="qq/zz", cache_dir=tmp_path)


def test_a_spec_can_be_the_target_of_a_configuration(tmp_path):
    from hydra.utils import instantiate

    config = {"_target_": "supclust.data.sets.registry.rexa", "source": "stand-in", "seed": 1}
    data = instantiate(config, data_dir=tmp_path, cache_dir=tmp_path / "cache")
    assert data.digest() == load_dataset("rexa", cache_dir=tmp_path / "cache", seed=1).digest()


def test_options_are_those_of_the_configuration_files():
    import yaml

    from supclust.data.sets.registry import SPECS

    common = {"name", "source", "path", "split_seed", "n_splits", "_target_", "defaults"}
    conf = Path(__file__).parents[4] / "conf" / "dataset"
    assert {path.stem for path in conf.glob("*.yaml")} == set(SPECS)
    for name, spec in SPECS.items():
        written = yaml.safe_load((conf / f"{name}.yaml").read_text())
        defaults = {**spec.options, **({"seed": 0} if spec.stand_in else {})}
        assert {key: written[key] for key in written if key not in common} == defaults


def test_list(tmp_path):
    write_pairs(tmp_path / "rexa")
    rows = {row["name"]: row for row in list_datasets(tmp_path)}
    assert list(rows) == NAMES
    assert rows["rexa"]["real"] and rows["rexa"]["path"] == str(tmp_path / "rexa")
    assert not rows["faces"]["real"] and rows["faces"]["stand_in"]
    assert not rows["vectors"]["stand_in"]


def test_check_reports_what_is_there(tmp_path):
    write_pairs(tmp_path / "rexa")
    (tmp_path / "v.csv").write_text("label,x\na,1\na,2\n")
    (report,) = check_path(tmp_path / "rexa")
    text = "\n".join(report.lines())
    assert "block folders" in text and "3 block(s), 9 points, 6 clusters, 9 pairs" in text
    assert check_path(tmp_path)[0].dataset.n == 9
    assert check_path(tmp_path / "rexa" / "a")[0].dataset.n == 3
    assert check_path(tmp_path / "v.csv")[0].layout == "vectors, a table with a header"


def test_check_reports_the_mistake(tmp_path):
    write_pairs(tmp_path / "rexa")
    (tmp_path / "rexa" / "b" / "pairFeatures.csv").write_text("0,1,x,1\n0,2,0,0\n1,2,0,0\n")
    with pytest.raises(DataError, match=r"b/pairFeatures.csv:1: field 3 must be a finite number"):
        check_path(tmp_path)
    with pytest.raises(DataError, match="no such file or folder"):
        check_path(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no known layout"):
        check_path(tmp_path / "empty")
    (tmp_path / "p.csv").write_text("id_a,id_b,x\n0,1,2\n")
    with pytest.raises(DataError, match="checked together with its labels"):
        check_path(tmp_path / "p.csv")
    (tmp_path / "broken.npz").write_bytes(b"PK nonsense")
    with pytest.raises(DataError, match="cannot be read as a NumPy"):
        check_path(tmp_path / "broken.npz")


def test_importing_costs_nothing():
    code = (
        "import sys, supclust.data, supclust.data.sets.registry;"
        "print([m for m in ('torch', 'pandas', 'pytorch_lightning') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_names_of_the_package():
    import supclust.data

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        supclust.data.nothing  # noqa: B018
    for name in supclust.data.__all__:
        assert getattr(supclust.data, name) is not None


@pytest.mark.data
def test_all_real_sets_through_the_cache(data_dir, tmp_path):
    expected = {"faces": (565, 20), "rexa": (988, 208), "aminer": (6730, 1257)}
    folders = {"faces": "umist_faces", "rexa": "rexa", "aminer": "aminer"}
    if not all((data_dir / folder).is_dir() for folder in folders.values()):
        pytest.skip("not all sets are below SUPCLUST_DATA")
    for name, counts in expected.items():
        fresh = load_dataset(name, data_dir=data_dir, cache_dir=tmp_path, source="real")
        again = load_dataset(name, data_dir=data_dir, cache_dir=tmp_path, source="real")
        assert (fresh.n, fresh.n_clusters) == (again.n, again.n_clusters) == counts
        assert fresh.digest() == again.digest()
