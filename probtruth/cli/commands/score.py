"""`probtruth score`: scores of predictions against soft labels."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from probtruth import check
from probtruth.cli import jax_setup, settings, streamed
from probtruth.cli import options as opt
from probtruth.cli.commands.run import rule_of
from probtruth.cli.console import Console

if TYPE_CHECKING:
    import probtruth.types


def score(
    context: opt.Context,
    machine: opt.Machine,
    shown: opt.Printed,
    truth: Annotated[str, opt.input_(metavar="FILE", help="Soft labels, as `probtruth truth --out` writes them.")],
    predictions: opt.PredictionFiles,
    out: Annotated[str, opt.output("--out", metavar="FILE", help="File for the result.")],
    rule: opt.Rule = "log",
    floor: opt.Floor = None,
    label_order: opt.LabelOrder = None,
    kind: opt.Kind = "probs",
    renormalise: opt.Renormalise = False,
    item: opt.Item = "item",
) -> None:
    """Score predictions against soft labels. The table has a row for each item and model."""
    from probtruth.io.predictions import model_files
    from probtruth.io.tables.parquet_notes import check_out

    console = settings.console(context, shown.json, shown.quiet)
    check_out(out)
    jax_setup.switch_on()
    files, available, scoring_rule = (
        model_files(predictions),
        streamed.known_memory(machine.memory),
        rule_of(rule, label_order),
    )
    options = {"rule": scoring_rule, "floor": floor}
    streamed.need_items(truth, available, machine.memory)
    cells: dict[str, Any] = {"item": item, "kind": kind, "renormalise": renormalise}
    if machine.dask is not None or streamed.too_large(files, available, machine.memory):
        check.unique([name for name, _ in files], "model")
        what = f"{len(files)} models' files"
        with streamed.streaming(what, out, available, machine, console, "scoring") as how:
            means, n_items = _streamed(truth, dict(files), out, {**options, **cells, **how})
    else:
        with console.progress("reading and scoring"):
            means, n_items = _held(truth, files, cells, out, options, console)
    console.note(f"scores of {len(means)} models on {n_items} items written to {out}")
    name = scoring_rule if isinstance(scoring_rule, str) else scoring_rule.name
    for model, mean in means.items():
        console.show(f"{model}: {mean:.6g} mean {name} score")
    console.emit({"rule": name, "floor": floor, "n_items": n_items, "models": means})


def _held(
    truth: str,
    files: list[tuple[str, str]],
    cells: Mapping[str, Any],
    out: str,
    options: Mapping[str, Any],
    console: Console,
) -> tuple[Mapping[str, float], int]:
    """Writes the scores of files that memory holds; the models' means, and the number of items."""
    from probtruth.io.predictions import read_predictions_pairs
    from probtruth.io.scores import write_scores
    from probtruth.io.truth import read_soft
    from probtruth.scoring import device_losses
    from probtruth.scoring.score import score

    reference = read_soft(truth, cells["item"])
    predictions = device_losses.placed(read_predictions_pairs(files, reference.index, **cells))
    for warning in predictions.warnings:
        console.note(warning)
    for model, rows, low, high in predictions.audit.renormalised:
        console.note(f"{rows} rows of {model!r} divided by their sums ({low:.6g} to {high:.6g}), as you chose")
    scores = score(predictions, reference, **options)
    write_scores(scores, out)
    return _means(scores), len(scores.items)


def _streamed(
    truth: str, files: Mapping[str, str], out: str, options: Mapping[str, Any]
) -> tuple[Mapping[str, float], int]:
    """Writes the scores of files that are streamed; the models' means, and the number of items."""
    from probtruth.line.score import score

    written = score(files, truth, out=out, **options)
    return written.means, written.n_items


def _means(scores: "probtruth.types.Scores") -> Mapping[str, float]:
    """The models' mean scores, from sums that do not depend on the order of the items."""
    import numpy as np

    from probtruth.kernels.exact_sums import weighted_mean

    weights = np.full(len(scores.items), 1 / len(scores.items))
    return {name: weighted_mean(row, weights) for name, row in zip(scores.models, scores.values, strict=True)}
