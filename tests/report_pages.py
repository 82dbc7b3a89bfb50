"""Results to make reports of, with names that attack the page, and a reader of the page."""

from __future__ import annotations

import csv
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from experiment_runs import composed

ATTACK = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
BLOCK = f"block {ATTACK}"
CLUSTER = f'"><svg onload="window.hacked = 1"> & <!-- cluster {ATTACK}'
POINT = "point <!-- \u2028\u2029 ]]> ${1} </title></style>"
ERROR = f"RuntimeError: {ATTACK}\nsecond line"
VOID = {"meta", "link", "br", "img", "input"}
RAW = {"script", "style"}


def write_hostile_points(path: Path, n_blocks: int = 6) -> Path:
    """A CSV of points whose block, cluster and point names are markup."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "who", "where", "a", "b"])
        for block in range(n_blocks):
            for cluster in range(3):
                centre = rng.normal(scale=3.0, size=2)
                for i in range(4):
                    numbers = (centre + rng.normal(scale=0.8, size=2)).round(4).tolist()
                    name = f"{POINT} {block}.{cluster}.{i}"
                    writer.writerow([name, f"{CLUSTER} {cluster}", f"{BLOCK} {block}", *numbers])
    return path


def run_job(folder: Path, *overrides: str) -> Path:
    """Run a job in this process, and keep its configuration where ``train.py`` keeps it."""
    from omegaconf import OmegaConf

    from supclust.experiment.config import Settings, plain
    from supclust.experiment.run import run

    outputs = folder / "outputs"
    config = composed(
        *overrides,
        "logger=none",
        f"paths.outputs={outputs}",
        f"paths.cache={folder / 'cache'}",
        f"paths.data={folder / 'data'}",
    )
    run(config)
    place = outputs / Settings.from_config(plain(config)).job_folder / ".hydra" / "config.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    OmegaConf.save(config, place)
    return outputs


def hostile_outputs(folder: Path) -> Path:
    """Two objectives on two splits of the hostile points; one further split has failed."""
    points = write_hostile_points(folder / "points.csv")
    for objective in ("all_pairs", "exp_alpha"):
        outputs = run_job(
            folder,
            f"objective={objective}",
            "dataset=vectors",
            "recipe=paper",
            f"dataset.path={points}",
            "dataset.label=who",
            "dataset.block=where",
            "dataset.id=id",
            "dataset.n_splits=4",
            "split=[0,1]",
            "trainer.max_epochs=3",
            "recipe.lr=0.01",
        )
    add_failure(outputs)
    return outputs


def add_failure(outputs: Path) -> None:
    """Write a failed result beside a finished one."""
    done = next(outputs.rglob("split-1/result.json"))
    result = json.loads(done.read_text(encoding="utf-8"))
    del result["linkages"]
    place = done.parent.parent / "split-2" / "result.json"
    place.parent.mkdir()
    failed = {**result, "status": "failed", "split": 2, "error": ERROR}
    place.write_text(json.dumps(failed), encoding="utf-8")


class Page(HTMLParser):
    """A page as its elements, text and embedded data; refuses elements that do not nest."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.data: dict[str, Any] = {}
        self.feed(source)
        self.close()
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside not in RAW:
            self.words.append(data)
        elif self.elements[-1][1].get("type") == "application/json":
            self.data[str(self.elements[-1][1]["id"])] = json.loads(data)

    @property
    def text(self) -> str:
        """Everything a reader sees, and attributes that are read out."""
        return " ".join(self.words)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Attributes of every element of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]
