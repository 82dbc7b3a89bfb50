"""Small tables, models and results that the campaign damages."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from supclust.cli.main import main
from supclust.data.block import Block, Dataset
from supclust.data.files import write_json
from supclust.data.records.comparisons import Comparison, RecordComparisons
from supclust.model.trained import TrainedModel
from torture.processes import Child

_CUT = ("exp", -0.5, 0.8)


@dataclass
class Inputs:
    """Inputs of one campaign, made in its folder on first use.

    Attributes:
        folder: of everything.
    """

    folder: Path
    scratch: Path = field(init=False)

    def __post_init__(self) -> None:
        """Make the folder of what the commands write."""
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir(parents=True)

    @cached_property
    def tables(self) -> dict[str, Path]:
        """Records to compare and vectors, 60 of each, as CSV."""
        rng = np.random.default_rng(0)
        who = np.repeat(np.arange(20), 3)
        records = ["id,name,year,block,who"]
        vectors = ["id,x,y,who"]
        for i, w in enumerate(who.tolist()):
            name = f"{'abcdefgh'[w % 8]}nn{w} {'lm'[i % 2]}i"
            records.append(f"r{i},{name},{1990 + w},b{w // 5},w{w}")
            x, y = rng.normal(size=2) * 0.1 + (w % 5, w // 5)
            vectors.append(f"p{i},{x:.4f},{y:.4f},w{w}")
        paths = {name: self.folder / f"{name}.csv" for name in ("records", "vectors")}
        for path, lines in zip(paths.values(), (records, vectors), strict=True):
            path.write_text("\n".join(lines) + "\n")
        return paths

    @cached_property
    def long_table(self) -> Path:
        """Records in 3,000 blocks, which are clustered in several chunks."""
        header, *lines = self.tables["records"].read_text().splitlines()
        path = self.folder / "long.csv"
        rows = (line.replace(",b", f",{k}-b") for k in range(750) for line in lines)
        path.write_text("\n".join([header, *rows]) + "\n")
        return path

    @cached_property
    def edges(self) -> Path:
        """Scored pairs of 20,000 records."""
        rng = np.random.default_rng(2)
        path = self.folder / "edges.csv"
        rows = [f"{i},{i + 1 + i % 2},{p:.4f}" for i, p in enumerate(rng.random(40_000))]
        path.write_text("\n".join(["id_a,id_b,dissimilarity", *rows]) + "\n")
        return path

    @cached_property
    def models(self) -> dict[str, Path]:
        """Folders of a model of the records and of one of the vectors."""
        compared = RecordComparisons((Comparison("name", "text"), Comparison("year", "number")))
        stored = {"block": "block", "id": "id", "label": "who", "comparisons": compared.to_json()}
        d = len(compared.feature_names)
        weight = np.full(d, -3 / d, np.float32)
        bias = np.float32(2)
        linear = TrainedModel(
            {"name": "linear", "kind": "pairs", "d": d},
            {
                **{"weight": weight, "average_weight": weight},
                **{"bias": np.array(bias), "average_bias": np.array(bias)},
            },
            "exp_alpha",
            compared.feature_names,
            *_CUT,
            record={**_record(), "records": stored},
        )
        euclidean = TrainedModel(
            {"name": "mahalanobis", "kind": "vectors", "d": 2},
            {"weight": np.eye(2, dtype=np.float32)},
            "mst",
            ("x", "y"),
            *_CUT,
            record=_record(),
        )
        return {
            name: model.save(self.folder / f"model-{name}")
            for name, model in (("records", linear), ("vectors", euclidean))
        }

    @cached_property
    def bare(self) -> Path:
        """Model of the records as a table without blocks, as `supclust fit` makes it."""
        folder = self.folder / "model-bare"
        words = ("--label", "who", "--ignore", "block", "-o", folder)
        run_command("fit", self.tables["records"], *words)
        return folder

    @cached_property
    def learned(self) -> Path:
        """Model of the vectors with a learned cut."""
        folder = self.folder / "model-learned"
        words = ("--label", "who", "--cut", "learned", "--epochs", "3", "-o", folder)
        run_command("fit", self.tables["vectors"], *words)
        return folder

    @cached_property
    def store(self) -> Path:
        """An entity store of all records but the last twenty."""
        lines = self.tables["records"].read_text().splitlines()
        some = self.folder / "stored.csv"
        some.write_text("\n".join(lines[:-20] + lines[-1:]) + "\n")
        store = self.folder / "store"
        words = ("--model", self.bare, "--store", store, "-o", self.folder / "s.csv")
        run_command("cluster", some, *words)
        return store

    @cached_property
    def new_records(self) -> Path:
        """Records for the store: twenty new ones, and one that has changed."""
        header, *lines = self.tables["records"].read_text().splitlines()
        path = self.folder / "new.csv"
        path.write_text("\n".join([header, *lines[-20:]]).replace("r59,", "r59,changed ") + "\n")
        return path

    @cached_property
    def results(self) -> Path:
        """Outputs of ``train.py`` with two results and their trainings."""
        outputs = self.folder / "results"
        scores = {"dendrogram_purity": 0.9, "precision": 0.8, "recall": 0.7, "pairwise_f1": 0.75}
        part = {"alpha": 0.0, "threshold": 0.5, "dev": scores, "test": scores}
        for split, objective in ((0, "mst"), (1, "mst"), (0, "exp_alpha")):
            place = f"trainings/{objective}/{split}"
            training = TrainedModel.load(self.models["vectors"])
            training.record["split"] = split
            training.save(outputs / place)
            result = {
                **{"format": 1, "status": "done", "dataset": "faces", "source": "real"},
                **{"notes": ["a note"], "objective": objective, "linkage": "all", "split": split},
                **{"seed": 0, "axes": {}, "epochs": 3, "seconds": 0.1, "model": place},
                "linkages": {"average": part, "exp": {**part, "alpha": -np.inf}},
                **{"config_hash": "0" * 64, "commit": "0" * 40, "versions": {"torch": "2"}},
                "config": {"data": "1" * 64, "split_seed": 0, "version": 1, "recipe": {"lr": 0.1}},
            }
            write_json(outputs / "faces" / objective / f"split-{split}" / "result.json", result)
        return outputs

    @cached_property
    def dataset(self) -> Dataset:
        """Two blocks of points."""
        rng = np.random.default_rng(1)
        blocks = tuple(
            Block(
                name=name,
                ids=tuple(f"{name}{i}" for i in range(6)),
                labels=np.repeat(np.arange(3), 2),
                kind="vectors",
                features=rng.normal(size=(6, 2)).astype(np.float32),
                cluster_names=("a", "b", "c"),
            )
            for name in ("one", "two")
        )
        return Dataset("torture", "vectors", "file", blocks, ("x", "y"))


def run_command(*words: object) -> None:
    """Run a command in a process of its own: this one has to stay without threads, to fork."""
    child = Child(partial(main, [str(word) for word in words]))
    assert child.wait(300) == 0, f"{words} failed: {child.shown[-500:]}"


def _record() -> dict[str, object]:
    curve = [2.0, 1.5, 1.25]
    counts = {"blocks": 2, "points": 12, "clusters": 6}
    return {
        **{"split": 0, "epochs": 3, "seconds": 0.1, "alpha": -0.5, "spread": 0.7},
        **{"train_loss": curve, "dev_loss": curve, "alpha_path": curve, "dev_purity": None},
        **{"source": "file", "sizes": {"train": counts, "dev": counts}},
        "versions": {"supclust": "0.1.0", "torch": "2", "numba": "0.6"},
        "dev": {"dendrogram_purity": 1.0, "precision": 1.0, "recall": 1.0, "pairwise_f1": 1.0},
    }
