"""The whole line: annotations and predictions in, P(A beats B) out."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.gold import ExpertAnswers, expert_answers
from probtruth.io.tables.batches import held
from probtruth.io.tables.read import Block
from probtruth.io.tables.wide import CellKind
from probtruth.io.truth import read_many_soft
from probtruth.line.in_memory import LineOptions, evaluate_in_memory
from probtruth.line.inputs import Models, Reference, files_of, is_soft, predictions_of, reference_of
from probtruth.line.larger_than_memory import Room
from probtruth.line.result import Result
from probtruth.line.streamed import evaluate_streamed
from probtruth.scoring import device_losses
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.streaming.compare_files import ScoringOptions
from probtruth.types import Annotations, Index, Predictions, Truth
from probtruth.types.arguments import ClassEvidence, Engine, Estimand, ExpertLabels, Groups, MethodName, RuleName

if TYPE_CHECKING:
    import distributed


def evaluate(
    reference: Reference,
    predictions: Models,
    *,
    method: MethodName | None = None,
    estimand: Estimand | None = None,
    evidence: ClassEvidence = "auto",
    exclude_annotators: Sequence[object] = (),
    rule: RuleName | ScoringRule = "log",
    floor: float | None = None,
    order: Sequence[object] | None = None,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    gold: ExpertLabels | ExpertAnswers | None = None,
    engine: Engine = "nuts",
    rope: float | str | None = None,
    seed: int = 0,
    strict: bool = False,
    item: str = "item",
    labels: Sequence[object] | None = None,
    kind: CellKind = "probs",
    renormalise: bool = False,
    client: "distributed.Client | None" = None,
    memory: float | None = None,
    scratch: str | Path | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Result:
    """From annotations (or soft labels) and predictions to the comparison of the models; of one model, to its score.

    Predictions may be arrays or dataframes, {model: table}, or files, {model: path}, as `read_predictions` reads them.
    Files that fit into memory are read whole; Parquet and Arrow files that do not, and folders of such files, are read
    some rows at a time. The result is the same, bit for bit, but for what needs every item at once (see Returns). One
    table that holds the reference and all models goes in as `evaluate(*pt.loaders.joined_table(path))`.

    Arguments: `reference` is `Annotations`, whose truth is inferred by `method` under `estimand` (see `infer_truth`),
    or a `Truth`. It may also be a dataframe, a dict of columns or a path: annotations in long form (columns `item`,
    `annotator`, `label`), or soft labels (a column for each label, rows that sum to 1). Tables that are no files may
    also hold counts of votes (whole numbers) or one value for each item, its label. `evidence` for the class of an item
    is its annotators ("annotators") or the models' forecasts too ("annotators-and-models", the default where classes
    are inferred: the likelihood of the annotations times a pool of the forecasts); `exclude_annotators` are names of
    annotators to leave out; `rule`, `floor` and `order` as in `score`; `groups`, `clusters` (a mapping from item to
    name, or names in the order in which you gave the reference's items), `weights`, `engine`, `rope` and `strict` as in
    `compare`.

    `gold` are experts' answers on a few items, {item: label} or a table with the columns `item` and `label`: the
    comparison under the estimand "class" (which they imply) is then anchored by them, also where annotators err
    together; from 40 answers on its intervals held in almost all worlds of `docs/validity/expert-labels.md`.
    A column `probability` says with which probability each item was chosen (see `Result.choose_gold`); without it they
    count as a uniform sample. Where a few small probabilities outweigh all others, so that the answers are worth fewer
    than 3 chosen alike, they are an error. A column `annotator` tells several experts of one item apart, whose answers
    are averaged.

    `item` names the column of items in tables, `labels` the columns of arrays without names (scikit-learn's
    `classes_`), `kind` says what the cells of predictions are, and `renormalise` divides rows by their sums (see
    `read_predictions`).

    Of files, `memory` (bytes, half of what is free unless you say) bounds the batches, beside the reference and the
    libraries; with `client`, a `dask.distributed.Client`, workers that see the same paths read and score them. Losses
    are meanwhile in the folder `scratch` (a new or an empty one), from which a run that was interrupted goes on, and
    from which they are removed at the end; without it, in a temporary one. `on_progress(done, total)` hears of the
    batches, then of the sampling.

    Returns: a `Result` with the truth, the scores, the comparison and the warnings. Where predictions were streamed its
    `scores` have no items, `decomposition` and the lists of items are left out, and `annotations` is None. Classes that
    annotators and models inform together need all predictions at once: then streamed predictions are an error, and the
    verdict under the other estimand, where it would be of that kind, is left out with a warning.

    Errors: `InputError` for input that cannot be used; `PosteriorError` where the data support no answer.

    >>> import probtruth as pt
    >>> votes = pt.Annotations.from_counts([[4, 1], [0, 5], [2, 3], [5, 0]])
    >>> models = {"a": [[0.8, 0.2], [0.1, 0.9], [0.5, 0.5], [0.9, 0.1]], "b": [[0.6, 0.4]] * 4}
    >>> result = pt.evaluate(votes, pt.Predictions.from_probs(models), engine="exact")
    >>> result.comparison.ranking()["model"].to_list()
    ['a', 'b']
    """
    check.own_threads()
    room = Room(memory, client, scratch)
    files = files_of(predictions)
    streams = files is not None and room.streams_predictions(files.values())
    room.refuse_renormalise(streams and renormalise)
    if streams and gold is not None:
        raise InputError("gold= with predictions that are streamed", "predictions in memory", "Raise memory=.")
    answers = gold if gold is None or isinstance(gold, ExpertAnswers) else expert_answers(gold, item)
    if answers is not None and method is None and not isinstance(reference, Truth):
        estimand = estimand or "class"
    if files is None and client is not None:
        raise InputError("client= with predictions in memory", "predictions in files", "Give {model: path}.")
    if not isinstance(reference, Annotations | Truth):
        how, estimand = estimand, None
        if streams and is_soft(reference, item):
            reference = read_many_soft(reference, item, how, room.n_bytes)
        else:
            if streams and isinstance(reference, Block):
                reference = held(reference, room.n_bytes)
            reference = reference_of(reference, predictions, item, how, labels)
            estimand = how if isinstance(reference, Annotations) else None
    if len(exclude_annotators):
        reference = without_annotators(reference, exclude_annotators)
    if not streams:
        predictions = predictions_of(predictions, item, kind, labels, reference.index, renormalise)
        predictions = predictions if files is None else device_losses.placed(predictions)
    other = predictions.index if isinstance(predictions, Predictions) else None
    group_of = by_item(groups, reference.index, other, "groups")
    cluster_of = by_item(clusters, reference.index, other, "clusters")
    scoring = ScoringOptions(get_rule(rule, order), floor, group_of, cluster_of, weights)
    options = LineOptions(method, estimand, evidence, scoring, engine, rope, seed, strict, on_progress, answers)
    if isinstance(predictions, Predictions):
        return evaluate_in_memory(reference, predictions, options)
    assert files is not None  # nothing else is streamed
    return evaluate_streamed(reference, files, item, kind, room, options)


def without_annotators(reference: Annotations | Truth, names: Sequence[object]) -> Annotations:
    """The annotations without those of some annotators; an error for a truth that is given."""
    if not isinstance(reference, Annotations):
        raise InputError(
            "exclude_annotators with a truth that is given",
            "annotations",
            "Leave the annotators out where the truth is inferred.",
        )
    return reference.without_annotators(names)


def by_item(listed: object, reference: Index, predictions: Index | None, what: str) -> object:
    """A list by item as a mapping, since items may be dropped on the way; the list is in the caller's order of items.

    That is the order of the reference, or of the predictions where the reference has no names or no order.
    """
    if listed is None or isinstance(listed, Mapping):
        return listed
    names = np.asarray(listed).ravel().tolist()
    unordered = reference.positional_items or reference.item_rows is None
    index = predictions if predictions is not None and unordered and not predictions.positional_items else reference
    check.length(len(names), len(index.items), f"items in {what}")
    return dict(zip(index.written_items(what), names, strict=True))
