"""What ``fit`` and ``explain`` say."""

from __future__ import annotations

from supclust.cli.explain import model_lines
from supclust.cli.fit import _sizes
from supclust.data.block import Block


def test_weights_that_are_shown_as_zero_have_no_effect() -> None:
    weights = {"a": 0.5, "b": -0.2, "c": 0.00004, "d": -0.00004}
    facts = {
        **dict.fromkeys(
            ("objective", "nearest_linkage", "spread", "dev", "sizes", "cut_choice", "entities")
        ),
        **{"linkage": "single", "alpha": 0.0, "threshold": 1.0, "bias": 0.0, "epochs": 1},
        "dissimilarity": "linear",
        "learned_cut": False,
        "features": [{"name": name, "weight": weight} for name, weight in weights.items()],
    }
    head, *_, a, b, c, d, _ = model_lines(facts)
    assert head.endswith(", 1 epoch")
    assert a.endswith("+0.5000  pushes apart") and b.endswith("-0.2000  draws together")
    assert c.endswith("+0.0000  no effect") and d.endswith("+0.0000  no effect")


def test_one_is_singular() -> None:
    import numpy as np

    block = Block("a", ("p", "q"), np.array([0, 0]), "vectors", np.zeros((2, 1)))
    assert _sizes([block]) == "1 block (2 records, 1 cluster)"
    assert _sizes([block, block]) == "2 blocks (4 records, 2 clusters)"
