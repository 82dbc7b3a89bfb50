"""What ``model.json``, ``result.json``, the weights and the features of a block must look like.

Folders come from other machines, versions and people: a field that has another type, or weights of
another shape than the features, would crash a reader, or make compiled code read beyond a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from supclust.data.documents import MAPPING, Anything, Finite, Text, wrong_field
from supclust.hac.family import METHODS
from supclust.schema import Count, Natural, NonNegative, Number, Rule, Widths, accepts

_Linkage = Annotated[str, Rule(f"one of {', '.join(METHODS)}", lambda value: value in METHODS)]
_Name = Annotated[str, Rule("a name", lambda value: isinstance(value, str | float))]  # 0.1: inf
_Relative = Annotated[
    str,
    Rule(
        "a path below the outputs",
        lambda v: isinstance(v, str) and not v.startswith("/") and ".." not in v.split("/"),
    ),
]
_Curve = (None, [Number | None])
_Spread = Annotated[float, Rule("a number > 0", lambda v: accepts(Number, v) and v > 0)]
_SIZES = {"*": {"blocks": Natural, "points": Natural, "clusters": Natural}}
_Share = Annotated[
    float, Rule("a number from 0 to 1", lambda v: accepts(Number, v) and 0 <= v <= 1)
]
_SCORES = {
    "dendrogram_purity": _Share | None,
    "precision": _Share,
    "recall": _Share,
    "pairwise_f1": _Share,
}
_Single = Annotated[
    float,
    Rule("a number of 32 bits", lambda v: accepts(Number, v) and abs(v) < 3.4e38),
]
_Flag = Annotated[bool, Rule("true or false", lambda value: isinstance(value, bool))]
_COMPARISON = {
    "column": _Name,
    "kind": Text,
    "missing": _Flag,
    "neutral": [_Single],
    "spread": _Spread,
}
_RECORDS = {
    "layout?": Text,
    "label?": _Name | None,
    "block?": _Name | None,
    "id?": _Name | None,
    "columns?": (None, {"*": Text}, [_Name]),
    "comparisons?": (None, [_COMPARISON]),
    "frequencies?": {"*": MAPPING},
}
_TABLE = {
    "columns": {"*": Text},
    "distinct?": _Name | None,
    "candidates": [{"rule": Text}],
    "given?": _Flag,
    "all_pairs?": _Flag,
    "missing": Number,
}
"""Further fields of the description of a table without blocks."""
_ENTITIES = {
    **dict.fromkeys(("records", "labelled", "entities", "pairs"), Natural),
    **{"never_compared": _Share, "reason": Text, "pair_model": Text},
}
"""How a model of a table without blocks was learned."""
_COUNTED = {"candidates": [{"pairs": NonNegative, "recall": _Share, "closure": _Share}]}
_GUARD = {
    **{"shipped": Text, "folds": Natural},
    **{"difference": Number | None, "standard_error": Number | None},
}
_CONFIDENCE = {
    **{"together": [Finite], "alone": [Finite], "error": Finite, "raw_error": Finite},
    "curve": {name: [Finite] for name in ("confidence", "observed", "records")},
}
_THRESHOLDS = {name: [Finite] for name in ("thresholds", "precision", "recall", "f1")}
_LEARNED = (
    None,
    {"features": [Text], "threshold": Finite, "unit": Finite, "exchange": Finite, "sha256": Text},
)
MODEL = {
    "objective": Text,
    "dissimilarity": {
        "name": Text,
        "kind": Literal["vectors", "pairs"],
        "d": Natural,
        "widths?": Widths,
        "class?": Text,
        "arguments?": MAPPING,
    },
    "feature_names": [_Name],
    "cut?": (
        None,
        {"linkage": _Linkage, "alpha": Number, "threshold": Number, "learned?": _LEARNED},
    ),
    "weights_sha256?": Text,
    "booster_sha256?": Text,
}
"""Of what a model is made; `RECORD` describes its training."""
RECORD = {
    "split?": Natural | None,
    "epochs?": Natural,
    "seconds?": NonNegative,
    "alpha?": Number | None,
    "spread?": _Spread | None,
    "dev?": (None, _SCORES),
    "test?": (None, _SCORES),
    "sizes?": (None, _SIZES),
    "records?": (None, _RECORDS),
    "estimator?": (None, MAPPING),
    "confidence?": (None, _CONFIDENCE),
    "dissimilarity_choice?": (None, {"chosen": Text, "folds": Natural, "scores": {"*": Number}}),
    "guard?": (None, _GUARD),
    "start?": Text | None,
    "cut_choice?": (None, {"reason?": Text | None, "ceiling?": _Share | None}),
    "importances?": (None, {"*": Finite}),
    "threshold_curve?": (None, _THRESHOLDS),
    "n_features_in?": Count | None,
    "feature_names_in?": (None, [Anything]),
    "versions?": {"*": Text},
    "dataset?": Text | None,
    "source?": Text | None,
    **{
        f"{name}?": _Curve
        for name in (
            *("train_loss", "dev_loss", "train_within", "train_across", "dev_within"),
            *("dev_across", "alpha_path", "dev_purity"),
        )
    },
}
RESULT = {
    "status": Literal["done", "failed"],
    "dataset": Text,
    "source?": Text,
    "objective": Text,
    "split": Natural,
    "seed": Natural,
    "config_hash": Text,
    "config": {"data?": Text, "*": Anything},
    "notes?": [Text],
    "axes?": MAPPING,
    "error?": Anything,
    "commit?": Text | None,
    "versions?": {"*": Text},
}
_PART = {f"{name}?": _Share | None for name in _SCORES}
DONE = {
    "source": Text,
    "linkages": {
        "*": {
            "alpha": Number | None,
            "threshold": Number | None,
            "learned?": _LEARNED,
            "ceiling?": _Share | None,
            "cut?": Anything,
            "dev": _PART,
            "test": _PART,
        }
    },
    "model?": _Relative,
    "epochs?": Natural,
    "seconds?": NonNegative,
}
"""Further fields of a result whose status is done."""


def block_features(
    features: NDArray[Any], kind: str, names: Sequence[str]
) -> NDArray[np.floating[Any]]:
    """(n, d) points or (e, d) condensed pair features as finite floats; refuses everything else.

    Args:
        features: of one block; of pairs also (n, n, d), of which the upper triangle is read.
        kind: ``vectors`` or ``pairs``.
        names: of the d features.
    """
    d, shape = len(names), features.shape
    expected = f"(n, {d})" if kind == "vectors" else f"(n, n, {d}) or (n (n - 1) / 2, {d})"
    square = kind == "pairs" and len(shape) == 3 and shape[0] == shape[1]
    if not (len(shape) == 2 or square) or shape[-1] != d:
        raise ValueError(
            f"features of a block must have shape {expected} for this model of {kind}; "
            f"received {shape}. Its features are {', '.join(names[:8])}"
            f"{', ...' if d > 8 else ''}."
        )
    if square:
        features = features[np.triu_indices(shape[0], 1)]
    elif kind == "pairs":
        from supclust.hac.cpu.fill import points_of

        points_of(len(features))  # refuses a number of rows that no block has
    if features.dtype not in (np.float32, np.float64):
        try:
            features = features.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"features must be numbers; received {features.dtype} ({error}). "
                "Convert text to numbers first."
            ) from None
    if not np.isfinite(features).all():
        raise ValueError(
            "features must be finite; received NaN or infinity. "
            "Fill in or remove the rows that have missing values."
        )
    return features


def wrong_in_result(result: Any) -> str | None:
    """What is wrong with a result; ``None`` if it can be read."""
    wrong = wrong_field(result, RESULT)
    if wrong or result["status"] != "done":
        return wrong
    if wrong := wrong_field(result, DONE):
        return wrong
    return None if result["linkages"] else "linkages must not be empty"


def wrong_in_model(described: Mapping[str, Any], weights: Mapping[str, NDArray[Any]]) -> str | None:
    """What is wrong with a model whose description has the fields of `MODEL` and `RECORD`."""
    spec, names = described["dissimilarity"], described["feature_names"]
    if spec["d"] != len(names) or spec.get("widths", [spec["d"]])[:1] != [spec["d"]]:
        return f"dissimilarity.d must be the number of features, {len(names)}; received {spec['d']}"
    for name, shape in _expected_shapes(spec).items():
        array = weights.get(name)
        if array is None or array.shape != shape or not np.issubdtype(array.dtype, np.floating):
            received = "none" if array is None else f"{array.dtype} {array.shape}"
            return f"weights {name!r} must be floats of shape {shape}; received {received}"
    for name, array in weights.items():
        if not np.issubdtype(array.dtype, np.number) or not np.isfinite(array).all():
            return f"weights {name!r} must be finite numbers; received {array.dtype} with others"
    for name in ("threshold_curve", "confidence"):
        curve = described.get(name) or {}
        lengths = {len(values) for values in curve.get("curve", curve).values()}
        if len(lengths) > 1:
            return f"the lists of {name} must have one length; received {sorted(lengths)}"
    records = described.get("records") or {}
    learned = described.get("entities")
    if records.get("layout") == "table" or learned is not None:
        wrong = wrong_field(records, _TABLE, "records")
        if learned is not None:
            wrong = wrong or wrong_field(learned, _ENTITIES, "entities")
            wrong = wrong or wrong_field(records, _COUNTED, "records")
        compared = [one["column"] for one in records.get("comparisons") or ()]
        if wrong or not {*compared} <= {*records["columns"]}:
            return wrong or f"records.columns must have all that are compared, {compared}"
    comparisons = records.get("comparisons")
    return None if comparisons is None else _wrong_in_comparisons(comparisons, spec)


def _wrong_in_comparisons(comparisons: list[Any], spec: Mapping[str, Any]) -> str | None:
    """What is wrong with the comparisons of records, which the compiled pass relies on."""
    from supclust.data.records.comparisons import RecordComparisons

    if spec["kind"] != "pairs":
        return f"records.comparisons are of pairs; received a model of {spec['kind']}"
    try:
        parsed = RecordComparisons.from_json(comparisons)
    except (ValueError, KeyError, TypeError) as problem:
        return f"records.comparisons: {problem}"
    if len(parsed.kinds) != len(parsed.comparisons):
        return "records.comparisons must name every column once; received one twice"
    if len(parsed.feature_names) != spec["d"]:
        return (
            f"records.comparisons must make the {spec['d']} features of the weights; received "
            f"{len(parsed.feature_names)}"
        )
    return None


def _expected_shapes(spec: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Shapes of the weights of a dissimilarity by its spec; of other classes none."""
    d, name = spec["d"], spec["name"]
    if name == "mahalanobis":
        return {"weight": (d, d)}
    if name == "linear":
        return {"average_weight": (d,), "average_bias": (), "weight": (d,), "bias": ()}
    if name == "stacked":
        return {"average_weight": (d + 1,), "average_bias": ()}
    if name == "encoder" and "class" not in spec:
        layers = list(pairwise(spec.get("widths", (d, 0))))
        pairs = [
            {f"stacked.{2 * i}": (b, a), f"stacked.{2 * i + 1}": (b,)}
            for i, (a, b) in enumerate(layers)
        ]
        return {key: shape for pair in pairs for key, shape in pair.items()}
    return {}
