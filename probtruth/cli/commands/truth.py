"""`probtruth truth`: soft labels from annotations."""

from pathlib import Path
from typing import Annotated, Any

from probtruth.check import count
from probtruth.cli import jax_setup
from probtruth.cli import options as opt
from probtruth.cli.reading import read_annotations

CSV_LACKS = (
    "CSV holds the probabilities alone: method, estimand and votes, which `score` needs for unbiased scores of "
    "opinions, are in Parquet only"
)
"""The note on soft labels as CSV."""


def truth(
    columns: opt.AnnotationColumns,
    shown: opt.Printed,
    file: Annotated[str, opt.argument(metavar="FILE", help=opt.LABEL_FILE)],
    method: opt.Method = None,
    estimand: opt.Estimand = None,
    exclude_annotator: opt.ExcludeAnnotator = None,
    format: opt.AnnotationFormat = "auto",
    out: Annotated[
        str | None, opt.output(metavar="FILE", help="Write the soft labels to this .parquet or .csv file.")
    ] = None,
    seed: opt.Seed = 0,
    time: opt.Time = None,
    device: opt.Device = None,
) -> None:
    """Infer soft labels and how good annotators are. Without --out, print a summary only."""
    jax_setup.switch_on()
    import numpy as np

    from probtruth.io.truth import check_soft_out, write_soft
    from probtruth.line.labelled import alike_labels, clickers, drifts, unsettled
    from probtruth.report.formats import terminal
    from probtruth.truth.annotators.quality import with_others
    from probtruth.truth.infer import infer_truth

    console = shown.console().of_stages(2)
    if out is not None:
        check_soft_out(out)
    with console.progress("reading annotations"):
        annotations = read_annotations(file, columns, format)
        if exclude_annotator:
            annotations = annotations.without_annotators(exclude_annotator)
        annotations, unlabelled = annotations.annotated()
    if annotations.excluded:
        console.note(f"{count(len(annotations.excluded), 'annotator')} left out as asked")
    if unlabelled:
        console.note(f"{len(unlabelled)} items without annotations left out")
    for warning in alike_labels(annotations.index.labels):
        console.note(warning)
    with console.progress("inferring"):
        options: dict[str, Any] = {"method": method, "estimand": estimand, "seed": seed}
        inferred = infer_truth(annotations, **options, draws=0)
    assert inferred.n_votes is not None  # truths of annotations have votes
    read = np.flatnonzero(inferred.n_votes)
    if len(read) < inferred.n_items:
        console.note(f"{count(inferred.n_items - len(read), 'item')} that only clickers answered left out")
        inferred = inferred.of_items(read)
    for warning in (*unsettled(inferred), *drifts(inferred), *clickers(inferred)):
        console.note(warning)
    quality = None if annotations.annotator is None else with_others(annotations)
    if out is not None:
        write_soft(inferred, out)
        if Path(out).suffix.lower() == ".csv":
            console.note(CSV_LACKS)
        console.note(f"soft labels of {inferred.n_items} items written to {out}")
    else:
        console.show(*terminal.truth_summary(inferred, quality))
    console.emit(terminal.truth_dict(inferred, quality))
