"""``supclust fit``: learn from labelled records how to cluster."""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supclust._lazy import interrupted_afterwards, require
from supclust.cli.fit.arguments import column_choice, configure
from supclust.cli.fit.bare_table import fit_bare_table, is_bare_table, learned_lines
from supclust.cli.wording import counted, linkage_line, names_in, scores_line
from supclust.model.best.choices import cut_line, dissimilarity_lines, guard_lines
from supclust.schema import Natural, check

if TYPE_CHECKING:
    from supclust.cli.fit.training_input import TrainingInput
    from supclust.data.block import Block, FloatArray
    from supclust.model.trained import TrainedModel

__all__ = ["EXAMPLES", "check_output", "configure", "run"]

EXAMPLES = (
    "supclust fit records.csv --label entity -o model",
    "supclust fit records.csv --label author --block name -o model",
    "supclust fit records.csv --label who --columns name,city,year -o model",
)

_UNITS_APART = 100  # ratio of spreads at which a hint about --scale is due


def run(options: argparse.Namespace) -> int:
    """Read, train, save, and say what was done."""
    from supclust.cli.fit.training_input import choose_blocks

    check("--seed", Natural, options.seed)
    check_output(options.output)
    if (options.label or options.pairs) is not None and is_bare_table(options):
        require("lightgbm")
        bare = fit_bare_table(options)
        if bare is not None:
            return _finish(bare, options.output, learned_lines(bare))
    require("pytorch_lightning")
    data = _read(options)
    print("\n".join(data.described), flush=True)
    _hint_units(data, options.scale)
    train, dev = choose_blocks(
        data,
        names_in(options.train_blocks),
        names_in(options.dev_blocks),
        options.dev_fraction,
        options.seed,
    )
    held = f"{_sizes(dev)} held out" if dev else "nothing held out: too few clusters"
    print(f"training on {_sizes(train)}, {held}", flush=True)
    model = _train(data, train, dev, options)
    if not any(block.n_clusters > 1 for block in dev or train):
        model = replace(model, record={**model.record, "dev": None})
    return _finish(model, options.output, _learned(model))


def _finish(model: TrainedModel, folder: Path, lines: list[str]) -> int:
    """Say what was learned, and save; where the disk is full by now, among temporary files."""
    replaced = (folder / "model.json").is_file()
    print("\n".join(lines), flush=True)
    try:
        model.save(folder)
    except OSError as problem:
        spare = Path(tempfile.mkdtemp(prefix="supclust-model-"))
        try:
            model.save(spare)
        except OSError:
            spare.rmdir()
            lost = f"{problem.strerror}, among the temporary files as well; the model is not saved"
            raise OSError(problem.errno, lost, str(folder)) from None
        raise OSError(
            problem.errno, f"{problem.strerror}; the model is in {spare}: move it", str(folder)
        ) from None
    print(f"model: {folder}{' (in place of the one that was there)' if replaced else ''}")
    return 0


def check_output(folder: Path) -> None:
    """Refuse, before anything is read, a folder that a model must not overwrite."""
    from supclust.data.files import require_output
    from supclust.model.folder import may_hold_model

    if folder.is_file():
        raise ValueError(f"-o needs a folder for the model; {folder} is a file. Choose another.")
    if not may_hold_model(folder):
        raise ValueError(
            f"-o needs an empty or new folder, or that of an older model; {folder} holds other "
            "things. Choose another."
        )
    require_output(folder)


def _read(options: argparse.Namespace) -> TrainingInput:
    from supclust.cli.fit.training_input import read_training_pairs, read_training_records
    from supclust.data.records.labelled import Use
    from supclust.data.tables.reader import is_pair_layout
    from supclust.model.spec import scores_pairs

    of_pairs = options.dissimilarity == "auto" or scores_pairs(options.dissimilarity)
    if is_pair_layout(options.records):
        if not of_pairs:
            raise ValueError(
                f"--dissimilarity {options.dissimilarity} works on vectors; received features of "
                "pairs. Leave it out."
            )
        return read_training_pairs(options.records, options.labels, not options.no_flag)
    if options.label is None:
        raise ValueError(
            "a table of records needs --label, the column of known clusters, or --pairs, a table "
            "of judged pairs; received neither. Add e.g. --label author."
        )

    use: Use = "auto" if of_pairs else "vectors"
    if options.dissimilarity == "linear":
        use = "compare"
    columns = replace(column_choice(options), distinct=None)  # which blocks do not take
    return read_training_records(options.records, columns, use)


def _hint_units(data: TrainingInput, scale: bool) -> None:
    if data.kind != "vectors" or scale or not len(data.spreads):
        return
    if data.spreads.max() > _UNITS_APART * data.spreads.min():
        print(
            "hint: the columns have very different spreads "
            f"({data.spreads.min():.3g} to {data.spreads.max():.3g}); --scale may learn better",
            file=sys.stderr,
        )


def _train(
    data: TrainingInput, train: list[Block], dev: list[Block], options: argparse.Namespace
) -> TrainedModel:
    with interrupted_afterwards():
        from supclust.model.fit import FitOptions, fit_model
        from supclust.objectives import TrainingDiverged

    scale = data.spreads if options.scale and data.kind == "vectors" else None
    auto = options.dissimilarity == "auto"  # scales can be put into a map only
    given = {
        "max_epochs": options.epochs,
        "lr": options.lr,
        "alpha_lr": options.alpha_lr,
        "weight_decay": options.weight_decay,
    }
    choice = FitOptions(
        objective=options.objective,
        linkage=options.linkage,
        dissimilarity="mahalanobis" if scale is not None and auto else options.dissimilarity,
        recipe={name: value for name, value in given.items() if value is not None},
        recipe_name=options.recipe,
        seed=options.seed,
        cut=options.cut,
    )
    try:
        with _bar() as callbacks:
            model = fit_model(
                *(_scaled(train, scale), _scaled(dev, scale)),
                *(data.feature_names, choice),
                callbacks=callbacks,
            )
    except TrainingDiverged as error:
        raise ValueError(str(error)) from None
    model = _unscaled(model, scale)
    return replace(model, record={**model.record, "records": data.records})


def _bar() -> AbstractContextManager[list[Any]]:
    """A progress bar at a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        return nullcontext([])
    from supclust.experiment.progress import training_bar

    return training_bar()


def _scaled(blocks: list[Block], scale: FloatArray | None) -> list[Block]:
    """Blocks of vectors, each feature divided by its scale."""
    if scale is None:
        return blocks
    return [replace(block, features=block.features / scale) for block in blocks]


def _unscaled(model: TrainedModel, scale: FloatArray | None) -> TrainedModel:
    """The model of the features before scaling: A diag(1 / s) in place of A."""
    if scale is None:
        return model
    if model.spec["name"] != "mahalanobis":
        raise ValueError(
            f"--scale goes with a mahalanobis dissimilarity; received {model.spec['name']}. "
            "Leave it out, or scale the columns yourself."
        )
    weight = model.weights["weight"]
    return replace(model, weights={"weight": weight / scale.astype(weight.dtype)})


def _sizes(blocks: list[Block]) -> str:
    records, clusters = sum(b.n for b in blocks), sum(b.n_clusters for b in blocks)
    inside = f"{counted(records, 'record')}, {counted(clusters, 'cluster')}"
    return f"{counted(len(blocks), 'block')} ({inside})"


def _learned(model: TrainedModel) -> list[str]:
    record: dict[str, Any] = model.record
    return [
        f"{model.objective}: {counted(record['epochs'], 'epoch')} in {record['seconds']:.1f} s",
        *dissimilarity_lines(record),
        *guard_lines(record),
        linkage_line(model.linkage, model.alpha, record["spread"]),
        f"cut: {cut_line(model.threshold, model.learned is not None, record.get('cut_choice'))}",
        scores_line(record.get("dev"), record.get("sizes")),
    ]
