"""The whole line: annotations and predictions in, P(A beats B) out."""

from collections.abc import Sequence
from dataclasses import replace

from probtruth import check
from probtruth.comparison.compare import compare
from probtruth.errors import InputError
from probtruth.frame_numbers import by_name
from probtruth.frames import name_text
from probtruth.io.addresses import fetched_once
from probtruth.io.formats import LabelReading
from probtruth.io.gold import ExpertAnswers, expert_answers
from probtruth.io.predictions import opened_models
from probtruth.line.compare import rope_in_units
from probtruth.line.gold import with_answers
from probtruth.line.informed_truth import on_evidence
from probtruth.line.inputs import Models, Reference, by_item, predictions_of, reference_of
from probtruth.line.labelled import NO_ROOM, SHARED_ERRORS, Labelled, Options
from probtruth.line.result import Result
from probtruth.scoring.align import align_all
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.truth.infer import infer_truth
from probtruth.types import Annotations, Predictions, Truth
from probtruth.types.arguments import (
    ClassEvidence,
    Engine,
    Estimand,
    ExpertLabels,
    Groups,
    MethodName,
    RuleName,
    Weights,
)


@fetched_once()
def evaluate(
    reference: Reference,
    predictions: Models,
    *,
    method: MethodName | None = None,
    estimand: Estimand | None = None,
    evidence: ClassEvidence = "auto",
    rule: RuleName | ScoringRule = "log",
    floor: float | None = None,
    order: Sequence[object] | None = None,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    weights: Weights | None = None,
    gold: ExpertLabels | ExpertAnswers | None = None,
    engine: Engine = "auto",
    rope: float | str | None = None,
    seed: int = 0,
    strict: bool = False,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    labels: Sequence[object] | None = None,
    missing: Sequence[object] = (),
    memory: float | None = None,
) -> Result:
    """From annotations (or soft labels) and predictions to the comparison of the models; of one model, to its score.

    Predictions may be arrays or dataframes, {model: table}, or files and folders, {model: path}, of any size.

    Arguments:
        reference: `Annotations`, whose truth is inferred by `method` under `estimand` (see `infer_truth`), or a
            `Truth`, of which an inferred one says what its annotations say. It may also be a dataframe, a dict of
            columns or a path: annotations in long form (columns `item`, `annotator`, `label`), or soft labels (a column
            for each label, rows that sum to 1). Tables that are no files may also hold counts of votes (whole numbers)
            or one value for each item, its label.
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        method: the truth method, where the reference is annotations (see `infer_truth`).
        estimand: as in `infer_truth`.
        evidence: for the class of an item is its annotators ("annotators", whom no comparison of several models should
            rest on alone) or the models' forecasts too ("annotators-and-models", the default where classes are
            inferred: the likelihood of the annotations times a pool of the forecasts).
        rule, floor, order: as in `score`.
        groups, weights, engine, rope, strict: as in `compare`. To leave annotators out, pass
            `annotations.without_annotators(names)`.
        clusters: a mapping from item to name, or names in the order in which you gave the reference's items; as in
            `compare`.
        gold: experts' answers on a few items (see below).
        seed: of everything random: the same seed gives the same numbers.
        item: the column of items.
        annotator, label: the columns of annotators and of their answers, where the reference is a table.
        labels: the names of the labels, in the order of the columns.
        missing: answers in a table of labels that are none ("NA", -1, "cannot say"): they are left out and counted.
        memory: bytes from which on tables lie in temporary files instead of in memory (see below).

    `gold` are experts' answers on a few items, {item: label} or a table with the columns `item` and `label`: the
    comparison under the estimand "class" (which they imply) is then corrected by them, also where annotators err
    together; from 40 answers on its intervals held in almost all simulation settings of
    `docs/validity/expert-labels-40.csv`. A column `probability` says with which probability each item was chosen (see
    `Result.choose_gold`); without it they count as a uniform sample. Where a few small probabilities outweigh all
    others, so that the answers count as much as fewer than 3 drawn at random, they are an error. A column `annotator`
    tells several experts of one item apart, whose answers are averaged.

    `item` names the column of items in tables, `labels` the columns of arrays without names (scikit-learn's
    `classes_`). Predictions whose cells are no probabilities, or whose rows do not sum to 1, go through
    `read_predictions`.

    `memory` (bytes, half of what is free unless you say) decides whether soft labels, counts and predictions lie in
    memory or in temporary files; no answer depends on it.

    Returns: a `Result` with the truth, the scores, the comparison and the warnings; verdicts under the other estimand
    are computed when they, or the warnings, are read.

    Errors: `InputError` for input that cannot be used; `PosteriorError` where the data support no answer.

    >>> import probtruth as pt
    >>> votes = pt.Annotations.from_counts([[4, 1], [0, 5], [2, 3], [5, 0]])
    >>> models = {"a": [[0.8, 0.2], [0.1, 0.9], [0.5, 0.5], [0.9, 0.1]], "b": [[0.6, 0.4]] * 4}
    >>> result = pt.evaluate(votes, pt.Predictions.from_probs(models), engine="exact")
    >>> result.comparison.ranking()["model"].to_list()
    ['a', 'b']
    """
    check.own_threads()
    answers = gold if gold is None or isinstance(gold, ExpertAnswers) else expert_answers(gold, item)
    if answers is not None and method is None and not isinstance(reference, Truth):
        estimand = estimand or "class"
    none = tuple(map(name_text, check.listed(missing, "missing")))
    how = LabelReading(item, annotator, label, missing=none)
    known, models, estimand = read_both(reference, predictions, how, labels, estimand, memory)
    options = Options(
        rule=get_rule(rule, order),
        evidence=evidence,
        floor=floor,
        groups=by_item(groups, known, models.index, "groups"),
        clusters=by_item(clusters, known, models.index, "clusters"),
        weights=weights if isinstance(weights, str) else by_name(weights, None, "weights"),
        gold=answers,
        seed=seed,
    )
    known, models = matched(known, models)
    truth = truth_of(known, method, estimand, seed)
    aligned = align_all(models, truth)
    if answers is not None:  # experts' answers correct scores of every model
        aligned = aligned.common()
    used = on_evidence(truth, aligned, evidence, seed)
    scores = used.scores(options.rule, floor)
    if answers is not None:
        scores = with_answers(scores, answers, aligned.labels)
    comparison = compare(
        scores,
        options.groups,
        options.clusters,
        weights=options.weights,
        engine=engine,
        rope=rope_in_units(rope, scores),
        seed=seed,
        strict=strict,
    )
    scores = comparison.scored  # with their groups and clusters
    labelled = Labelled(used.truth, truth, used.aligned, scores, comparison, options)
    # in the order of what they could change: the verdict (where these are read), the classes, the numbers, the tables
    warnings = []
    inferred = truth.annotations is not None and truth.estimand == "class"
    if inferred and answers is None and len(models.models) > 1:
        warnings.append(SHARED_ERRORS)
    warnings += [*labelled.warnings(), *comparison.warnings, *models.warnings]
    if labelled.no_room:
        warnings.append(NO_ROOM)
    return Result(scores, comparison, tuple(warnings), labelled)


def read_both(
    reference: Reference,
    predictions: Models,
    how: LabelReading,
    labels: Sequence[object] | None,
    estimand: Estimand | None,
    memory: float | None = None,
) -> tuple[Annotations | Truth, Predictions, Estimand | None]:
    """Both sides as types, and the estimand that is left to be inferred: soft labels take it where they are read."""
    predictions = opened_models(predictions)
    known = reference_of(reference, predictions, how, estimand, labels, memory)
    left = estimand if known is reference or isinstance(known, Annotations) else None
    return known, predictions_of(predictions, how.item, labels, known.index, memory), left


def truth_of(reference: Annotations | Truth, method: MethodName | None, estimand: Estimand | None, seed: int) -> Truth:
    """The truth itself, or inferred from annotations."""
    if isinstance(reference, Truth):
        if method is not None or estimand not in (None, reference.estimand):
            raise InputError(
                f"method {method!r} and estimand {estimand!r} with a truth that is given",
                "neither: the truth has its own",
                "Leave them out, or give annotations (command line: --truth and --estimand go with --annotations).",
            )
        return reference.uninformed or reference  # or forecasts would count twice
    return infer_truth(reference, method, estimand, draws=0, seed=seed)


def matched(reference: Annotations | Truth, predictions: Predictions) -> tuple[Annotations | Truth, Predictions]:
    """Both sides under common names; annotations without the items that nobody annotated."""
    predictions = predictions.named_by(reference.index)
    if isinstance(reference, Truth):
        return reference, predictions
    index = predictions.index
    rest, gone = reference.named_by(index, "the predictions").annotated()
    if gone and index.positional_items:
        check.length(len(index.items), reference.n_items, "items in the predictions")
        index = replace(index, positional_items=False)
        rest = replace(rest, index=replace(rest.index, positional_items=False))
    return rest, replace(predictions, index=index)
