"""The whole line on predictions larger than memory."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from probtruth.comparison.evidence.crossed import same_few
from probtruth.comparison.options import checked_options
from probtruth.errors import InputError
from probtruth.io.tables.read import Block
from probtruth.line.bounds import ONE_VOTE, STREAMED, Bounds
from probtruth.line.in_memory import LineOptions, truth_of, under_labels, voted
from probtruth.line.informed_truth import evidence_for
from probtruth.line.labelled import Labelled
from probtruth.line.larger_than_memory import Room
from probtruth.line.other_estimand import NO_ROOM, changed, other_truth
from probtruth.line.result import Result
from probtruth.scoring.align import align
from probtruth.scoring.rules import get_rule
from probtruth.streaming.compare_files import streamed
from probtruth.streaming.prepared import DRAWS, of_kind, opened, scratch
from probtruth.truth.infer import METHODS, choose
from probtruth.types import Annotations, Truth

OTHER_LEFT_OUT = (
    "the verdict under the estimand 'class' is left out: it is inferred from annotators and models together, and "
    "predictions that are streamed cannot inform it; with more memory (--memory) it is part of the result"
)
"""The warning where annotators are known and the predictions of several models are streamed."""


def evaluate_streamed(
    reference: Annotations | Truth,
    files: Mapping[str, str | Path | Block],
    item: str,
    kind: str,
    room: Room,
    options: LineOptions,
) -> Result:
    """The truth, the comparison, and the verdict under the other estimand where that is how annotators would answer."""
    _refuse_evidence(reference, len(files), options)
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
        if annotations is not None and truth.estimand == "distribution" and len(files) > 1:
            warnings += [OTHER_LEFT_OUT] if annotations.annotator is not None else []
        elif annotations is not None:
            beside = other_truth(annotations, truth.estimand, options.seed)
            if beside is not None:
                exact = checked_options("exact", "new-items", None, DRAWS, options.seed, False)
                again = streamed(beside, tables, options.scoring, exact, store("other"))
                other = changed(beside, scores.comparison, again.comparison)
                warnings += [line for line in (other.warning(),) if line]
            elif annotations.annotator is not None:
                warnings.append(NO_ROOM)
    assert scores.sample is not None  # only bare scores have none
    bounds = None if annotations is None or len(files) < 2 else _without_bounds(truth)
    labelled = Labelled(truth, align(*scores.sample), get_rule(options.scoring.rule), None, other, bounds=bounds)
    warnings = [*scores.comparison.warnings, *of_kind(tables), *labelled.warnings(), *warnings]
    known = replace(scores, sample=None)
    return Result(known, replace(scores.comparison, scored=known), tuple(warnings), labelled)


def _without_bounds(truth: Truth) -> Bounds | None:
    """Why the result has no bounds, where it has some in memory."""
    if truth.estimand != "class" or truth.n_votes is None:
        return None
    return Bounds(None, reason=ONE_VOTE if truth.n_votes.max() < 2 else STREAMED)


def _refuse_evidence(reference: Annotations | Truth, n_models: int, options: LineOptions) -> None:
    """Raises where the models' forecasts are evidence of the classes: that needs them all at once.

    With more memory the same call would have used them; another answer here would depend on how much of it is free.
    """
    annotated = isinstance(reference, Annotations)
    inferred = annotated and METHODS[choose(options.method, options.estimand)].estimand == "class"
    if evidence_for(options.evidence, inferred, n_models) == "annotators-and-models":
        raise InputError(
            "classes inferred from annotators and models, with predictions that are streamed",
            "predictions that fit into memory, or evidence of the annotators alone",
            "Give more memory (memory=; command line: --memory), or write evidence='annotators' (--evidence "
            "annotators): in memory or streamed, the answer is then the same, and punishes the sharper model where "
            "annotators are few or poor.",
        )
