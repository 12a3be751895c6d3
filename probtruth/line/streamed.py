"""The whole line on predictions larger than memory."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from probtruth import check
from probtruth.comparison.evidence.crossed import same_few
from probtruth.comparison.options import checked_options
from probtruth.errors import InputError
from probtruth.line.in_memory import LineOptions, truth_of, under_labels, voted
from probtruth.line.informed_truth import EVIDENCE
from probtruth.line.labelled import Labelled
from probtruth.line.larger_than_memory import Room
from probtruth.line.other_estimand import changed, other_truth
from probtruth.line.result import Result
from probtruth.scoring.align import align
from probtruth.scoring.rules import get_rule
from probtruth.streaming.compare_files import streamed
from probtruth.streaming.prepared import DRAWS, of_kind, opened, scratch
from probtruth.types import Annotations, Truth

ANNOTATORS_ALONE = (
    "classes are inferred from the annotators alone, since predictions that are streamed cannot inform them: where "
    "annotators are few or poor, the sharper model is punished"
)
"""The warning on classes under predictions that are streamed; see `informed_truth`."""


def evaluate_streamed(
    reference: Annotations | Truth,
    files: Mapping[str, str | Path],
    item: str,
    kind: str,
    room: Room,
    options: LineOptions,
) -> Result:
    """The truth, the comparison, and the verdict under the other estimand where that is how annotators would answer."""
    if check.one_of(options.evidence, EVIDENCE, "evidence") == "annotators-and-models":
        raise InputError(
            "evidence 'annotators-and-models' with predictions that are streamed",
            "predictions that fit into memory",
            "Give more memory, or leave evidence out: classes then come from the annotators alone.",
        )
    tables = opened(list(files.items()), item, kind, room.n_bytes)
    annotations = None
    if isinstance(reference, Annotations):
        reference = annotations = under_labels(reference.annotated()[0], tables.index)
    truth = truth_of(reference, options.method, options.estimand, options.seed)
    if annotations is not None:
        annotations, truth = voted(annotations, truth)
    if annotations is not None and truth.estimand == "distribution" and same_few(annotations):
        raise InputError(
            f"the same {annotations.n_annotators} annotators on most items",
            "annotations of which each item has its own, for input that is streamed",
            "What few annotators have in common needs all losses at once: give more memory (--memory), or counts per "
            "label instead of annotators.",
        )
    chosen = checked_options(options.engine, "new-items", options.rope, DRAWS, options.seed, options.strict)
    with scratch(room.scratch, room.client) as store:
        scores = streamed(truth, tables, options.scoring, chosen, store("asked"), options.on_progress)
        warnings, other = [], None
        if annotations is not None and truth.estimand == "class":
            warnings.append(ANNOTATORS_ALONE)
            shares = other_truth(annotations, truth.estimand, options.seed)
            if shares is not None:
                exact = checked_options("exact", "new-items", None, DRAWS, options.seed, False)
                again = streamed(shares, tables, options.scoring, exact, store("other"))
                other = changed(shares, scores.comparison, again.comparison)
                warnings += [line for line in (other.warning(),) if line]
    assert scores.sample is not None  # only bare scores have none
    labelled = Labelled(truth, align(*scores.sample), get_rule(options.scoring.rule), None, other)
    warnings = [*scores.comparison.warnings, *of_kind(tables), *labelled.warnings(), *warnings]
    known = replace(scores, sample=None)
    return Result(known, replace(scores.comparison, scored=known), tuple(warnings), labelled)
