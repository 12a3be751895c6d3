"""The whole line on predictions that memory holds."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from probtruth import check
from probtruth.comparison.compare import compare
from probtruth.comparison.evidence.crossed import same_few
from probtruth.errors import InputError, PosteriorError
from probtruth.io.gold import ExpertAnswers
from probtruth.kernels.later import as_held
from probtruth.line.bounds import bounds
from probtruth.line.gold import with_answers
from probtruth.line.informed_truth import evidence_for, score_on_evidence
from probtruth.line.labelled import Labelled
from probtruth.line.other_estimand import NO_ROOM, by_annotators_alone, by_counts_alone, other_estimand, other_method
from probtruth.line.result import Result
from probtruth.scoring.align import align
from probtruth.scoring.rules import get_rule
from probtruth.streaming.compare_files import ScoringOptions
from probtruth.truth.infer import infer_truth
from probtruth.types import Annotations, Index, Predictions, Truth
from probtruth.types.arguments import ClassEvidence, Engine, Estimand, MethodName


@dataclass(frozen=True, eq=False)
class LineOptions:
    """The options of `evaluate`; `scoring` holds those of the scores and which items belong together."""

    method: MethodName | None
    estimand: Estimand | None
    evidence: ClassEvidence
    scoring: ScoringOptions
    engine: Engine
    rope: float | str | None
    seed: int
    strict: bool
    on_progress: Callable[[int, int], None] | None
    gold: ExpertAnswers | None = None


def evaluate_in_memory(reference: Annotations | Truth, predictions: Predictions, options: LineOptions) -> Result:
    """The truth, the scores, the comparison, and the verdict under the other estimand."""
    reference, predictions = matched(reference, predictions)
    truth = truth_of(reference, options.method, options.estimand, options.seed)
    annotations = reference if isinstance(reference, Annotations) else None
    if annotations is not None:
        annotations, truth = voted(annotations, truth)
    scoring, inferred = options.scoring, annotations is not None and truth.estimand == "class"
    evidence = evidence_for(options.evidence, inferred, len(predictions.models))
    scored = score_on_evidence(truth, align(predictions, truth), evidence, scoring.rule, scoring.floor, options.seed)
    shared = annotations is not None and same_few(annotations) and truth.estimand == "distribution"
    scores = scored.scores
    if options.gold is not None:
        scores = with_answers(scores, options.gold, scored.aligned.labels)
    comparison = compare(
        scores,
        scoring.groups,
        scoring.clusters,
        annotations=annotations if shared and scored.aligned.shares is not None else None,
        weights=scoring.weights,
        engine=options.engine,
        rope=options.rope,
        seed=options.seed,
        strict=options.strict,
        on_progress=options.on_progress,
    )
    other, method, doubt, bounded = None, None, None, None
    if annotations is not None:
        other = other_estimand(annotations, scored.aligned, comparison, scoring, options.seed)
        if options.gold is None:  # else experts decide, whatever a method infers
            method = other_method(scored.aligned, truth, comparison, evidence, scoring, options.seed)
            bounded = bounds(annotations, scored, comparison, scoring)
        if annotations.annotator is None and truth.estimand != "class" and len(predictions.models) > 1:
            doubt = by_counts_alone(annotations, scored.aligned, comparison, scoring, options.seed)
        if inferred and len(predictions.models) == 1 and options.gold is None:
            doubt = by_annotators_alone(scored.aligned, truth, comparison, scoring, options.seed)
    labelled = Labelled(scored.truth, scored.aligned, get_rule(scoring.rule), annotations, other, method, bounded)
    warnings = [*comparison.warnings, *predictions.warnings, *labelled.warnings()]
    warnings += [line for line in (other and other.warning(), doubt) if line]
    if other is None and annotations is not None and annotations.annotator is not None:
        warnings.append(NO_ROOM)
    return Result(scores, comparison, tuple(warnings), labelled)


def truth_of(reference: Annotations | Truth, method: MethodName | None, estimand: Estimand | None, seed: int) -> Truth:
    """The truth itself, or inferred from annotations."""
    if isinstance(reference, Truth):
        if method is not None or estimand not in (None, reference.estimand):
            raise InputError(
                f"method {method!r} and estimand {estimand!r} with a truth that is given",
                "neither: the truth has its own",
                "Leave them out, or give annotations.",
            )
        return reference
    return infer_truth(reference, method, estimand, seed=seed)


def voted(annotations: Annotations, truth: Truth) -> tuple[Annotations, Truth]:
    """Both without the items that only clickers answered, of which nothing is known."""
    rows = np.arange(truth.n_items) if truth.n_votes is None else np.flatnonzero(truth.n_votes > 0)
    if len(rows) == truth.n_items:
        return annotations, truth
    if not len(rows):
        raise PosteriorError("no annotator more probably reads than clicks: the opinions of readers are unknown")
    return annotations.of_items(rows), truth.of_items(rows)


def under_labels(annotations: Annotations, index: Index) -> Annotations:
    """The annotations under all labels of the predictions, where both name theirs."""
    if index.positional_labels or annotations.index.positional_labels:
        return annotations
    return annotations.with_labels(index) if set(index.labels) >= set(annotations.index.labels) else annotations


def matched(reference: Annotations | Truth, predictions: Predictions) -> tuple[Annotations | Truth, Predictions]:
    """Both sides under common names; annotations under all labels, without the items that nobody annotated."""
    predictions = predictions.named_by(reference.index)
    if isinstance(reference, Truth):
        return reference, predictions
    index = predictions.index
    rest, gone = reference.named_by(index, "the predictions").annotated()
    if gone and index.positional_items:
        check.length(len(index.items), reference.n_items, "items in the predictions")
        index = replace(index, positional_items=False)
        rest = replace(rest, index=replace(rest.index, positional_items=False))
    logs = as_held(predictions, "log_probs")
    return under_labels(rest, index), replace(predictions, log_probs=logs, index=index)
