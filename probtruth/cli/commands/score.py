"""`probtruth score`: scores of predictions against soft labels."""

from typing import Annotated, Any

from probtruth import check
from probtruth.cli import jax_setup, streamed
from probtruth.cli import options as opt


def score(
    scoring: opt.RuleOptions,
    machine: opt.Machine,
    shown: opt.Printed,
    truth: Annotated[str, opt.input_(metavar="FILE", help="Soft labels, as `probtruth truth --out` writes them.")],
    predictions: Annotated[
        list[str], opt.input_(metavar="NAME=FILE", help="A model's probabilities, a column a label. Repeat.")
    ],
    out: Annotated[str, opt.output(metavar="FILE", help="File for the result.")],
    kind: opt.Kind = "probs",
    renormalise: opt.Renormalise = False,
    item: opt.Item = "item",
) -> None:
    """Score predictions against soft labels. The table has a row for each item and model."""
    from probtruth.io.predictions import model_files
    from probtruth.io.tables.parquet_notes import check_out
    from probtruth.line.score import score

    console = shown.console()
    check_out(out)
    jax_setup.switch_on()
    files, memory, rule = model_files(predictions), streamed.Memory.of(machine.memory), scoring.chosen
    check.unique([name for name, _ in files], "model")
    memory.need_items(truth)
    streams = machine.dask is not None or memory.streams(files)
    what, cells = f"{len(files)} models' files", {"item": item, "kind": kind, "renormalise": renormalise}
    with streamed.working(streams, what, out, memory, machine, console, "scoring") as how:
        options: dict[str, Any] = {"rule": rule, "floor": scoring.floor, **cells, **how}
        written = score(dict(files), truth, out=out, **options)
    for warning in written.warnings:
        console.note(warning)
    for model, rows, low, high in written.audit.renormalised:
        console.note(f"{rows} rows of {model!r} divided by their sums ({low:.6g} to {high:.6g}), as you chose")
    console.note(f"scores of {len(written.means)} models on {written.n_items} items written to {out}")
    name = rule if isinstance(rule, str) else rule.name
    for model, mean in written.means.items():
        console.show(f"{model}: {mean:.6g} mean {name} score")
    console.emit({"rule": name, "floor": scoring.floor, "n_items": written.n_items, "models": written.means})
