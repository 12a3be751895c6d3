"""Several labels of an item, each of which applies or not: what each says of the models, and all together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probtruth import check, frames
from probtruth.check import MaybeNumber, MaybeText, Strings, Texts, one_of, quote, shortlist, unique
from probtruth.comparison.compare import compare
from probtruth.errors import InputError
from probtruth.io.annotations import annotations_in
from probtruth.io.formats import LabelReading
from probtruth.io.kinds import Beside
from probtruth.io.predictions import opened_models, read_predictions
from probtruth.io.table import FrameTable, Table, opened
from probtruth.io.tables.columns import item_column, names_in
from probtruth.line.compare import rope_in_units
from probtruth.line.evaluate import evaluate
from probtruth.line.inputs import by_item
from probtruth.line.result import Result
from probtruth.scoring.rules import ScoringRule
from probtruth.truth.multilabel import NO_YES, by_label
from probtruth.types import Annotations, LabelsBehind, Predictions, Scores
from probtruth.types.annotations import index_of_labels
from probtruth.types.arguments import Engine, Estimand, Frame, Groups, MethodName, RuleName, StrPath
from probtruth.types.index import positions
from probtruth.types.pairs import Pair

if TYPE_CHECKING:
    import polars

ALL = "mean of all labels"  # What stands for the label where all count
CALLED = "Call the labels as their columns are called, in all tables: labels=[...] (command line: --label)."
ITEM = "item"  # The column of items of what is read of one label
NO, YES = (("0", "0.0", "no", "false"), ("1", "1.0", "yes", "true"))  # How cells say that a label applies or not


@dataclass(frozen=True, eq=False, repr=False)
class LabelsResult(Result):
    """What each label says of the models (`by_label`), and the mean of their losses over the labels (`comparison`).

    Each of `by_label` is what `evaluate` gives for one label, whose labels are "no" and "yes". In the mean every label
    counts the same; an item's loss is the mean over its labels, so that labels of one item are not taken for new items.
    """

    def pairwise(self) -> "polars.DataFrame":
        """The rows of `Comparison.pairwise` for each label, then for their mean, with the label in a first column."""
        rows = []
        for label, result in {**self.by_label, ALL: self}.items():
            rows += [{"label": label, **dict(pair)} for pair in result.comparison.pairs]
        return frames.from_rows(rows or [{"label": "", **dict(Pair("", ""))}]).head(len(rows))

    @property
    def warnings(self) -> Texts:
        """Those of the labels, each with its labels, then those of the mean alone."""
        labels_of: dict[str, list[str]] = {}
        for label, result in self.by_label.items():
            for line in result.warnings:
                labels_of.setdefault(line, []).append(label)
        lines = [f"{shortlist(labels, 5)}: {line}" for line, labels in labels_of.items()]
        lines += [line for line in self.warned if line not in labels_of]
        return tuple(lines)

    def to_dict(self) -> dict[str, Any]:
        """The content of `result.json` for the mean, and for each label under `labels`."""
        labels = [{"label": label, **result.to_dict()} for label, result in self.by_label.items()]
        return {**super().to_dict(), "labels": labels}


def evaluate_labels(
    annotations: Annotations | StrPath | Frame,
    predictions: Mapping[str, StrPath | Frame],
    labels: Sequence[object] | None = None,
    *,
    none: str | int | None = None,
    method: MethodName | None = None,
    estimand: Estimand | None = None,
    rule: RuleName | ScoringRule = "log",
    floor: MaybeNumber = None,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    engine: Engine = "auto",
    rope: float | str | None = None,
    seed: int = 0,
    strict: bool = False,
    item: MaybeText = None,
    annotator: MaybeText = None,
) -> LabelsResult:
    """`evaluate` of several labels at once, each of which applies to an item or not (toxic, insult, threat).

    Arguments:
        annotations: a table with one row for each item and annotator, and a column for each of `labels` that says
            whether it applies (0 or 1, no or yes, false or true). Or `Annotations` of label sets, as `infer_multilabel`
            takes them, with `none`.
        predictions: a table for each model, with the column `item` and one for each label: the probability that it
            applies. Rows need not sum to 1.
        labels: all of the annotations' by default where these are sets.
        none: the name of the answer that no label applies.
        method: the truth method (see `infer_truth`).
        estimand: as in `infer_truth`.
        rule: as in `score`.
        floor: as in `score`.
        groups: as in `evaluate`.
        clusters: as in `evaluate`.
        engine: as in `compare`.
        rope: the largest difference that does not matter.
        seed: of everything random: the same seed gives the same numbers.
        strict: as in `compare`.
        item, annotator: the columns of items (else found by their values) and of annotators.

    Returns: a `Result` of the mean over labels, which counts every label the same, with `by_label`, the result of each
    label, and `pairwise()`, the pairs of all of them.

    Errors: `InputError` for a column that is not there, a cell that says neither yes nor no, a probability outside 0 to
    1, and whatever `evaluate` refuses.

    >>> import probtruth as pt
    >>> votes = {"item": [1, 1, 2, 2, 3, 3], "annotator": ["p", "q"] * 3, "toxic": [1, 1, 0, 0, 1, 0]}
    >>> votes["insult"] = [1, 0, 0, 0, 0, 0]
    >>> good = {"item": [1, 2, 3], "toxic": [0.9, 0.2, 0.5], "insult": [0.5, 0.1, 0.1]}
    >>> poor = {"item": [1, 2, 3], "toxic": [0.4, 0.5, 0.4], "insult": [0.6, 0.3, 0.4]}
    >>> result = pt.evaluate_labels(votes, {"good": good, "poor": poor}, ["toxic", "insult"], engine="exact")
    >>> result.pairwise()["label"].to_list()
    ['toxic', 'insult', 'mean of all labels']
    >>> result.comparison.ranking()["model"][0]
    'good'
    """
    chosen = None if labels is None else [frames.name_text(label) for label in check.listed(labels, "labels")]
    tables = opened_models(predictions)
    if isinstance(tables, Predictions):
        raise InputError("Predictions, which hold one label an item", "{model: table or path}", "Give the tables.")
    unique(chosen or (), "label")
    if isinstance(annotations, Annotations):
        sets = by_label(annotations, none)
        binary = {label: sets[one_of(label, tuple(sets), "label")] for label in chosen or sets}
    elif not chosen:
        raise InputError(
            "a table of annotations without labels",
            "at least one label",
            "Name their columns: labels=['toxic', 'insult'].",
        )
    else:
        of_items = []
        for table in tables.values():
            if isinstance(table, Table):
                of_items += names_in(table.with_own_items(item), item)
        how = LabelReading(item, annotator)
        binary = _read_answers(opened(annotations, "the annotations"), chosen, how, Beside(of_items))
    models = _read_models(tables, binary, item)
    options: dict[str, Any] = {"groups": groups, "clusters": clusters, "engine": engine, "seed": seed, "strict": strict}
    of_labels: dict[str, Any] = {"method": method, "estimand": estimand, "rule": rule, "floor": floor, "rope": rope}
    results = {label: evaluate(votes, models[label], **of_labels, **options) for label, votes in binary.items()}
    listed = [result.scores for result in results.values()]
    scores = _mean_scores(listed, list(binary.values()))
    for what in ("groups", "clusters"):
        options[what] = by_item(options[what], next(iter(binary.values())), None, what)
    comparison = compare(scores, rope=rope_in_units(rope, scores), **options)
    note = f"The mean of {check.count(len(results), 'label')}: {shortlist(results, 12)}. result.json has each."
    return LabelsResult(comparison.scored, comparison, comparison.warnings, note=note, by_label=results)


def _read_answers(table: Table, labels: Strings, how: LabelReading, beside: Beside) -> dict[str, Annotations]:
    """Of each label the annotations "no" or "yes", from a table with a column for each."""
    binary = {}
    for label in labels:
        check.need_columns(table.columns, {"label": label}, table.name, CALLED)
        made = annotations_in(table, replace(how, label=label), beside)
        odd = [name for name in made.index.labels if name.lower() not in YES + NO]
        if odd:
            frame, source = table.head
            cells = frames.names(frame, label, source, "label")
            raise InputError(
                quote(odd[0]),
                "0 or 1 (no or yes, false or true): whether the label applies",
                "A column that holds the name of a label is read by evaluate (command line: one --label).",
                source.at((cells == odd[0]).arg_max(), label),
            )
        applies = np.array([name.lower() in YES for name in made.index.labels], np.int64)
        of_both = index_of_labels(NO_YES)
        index = replace(made.index, labels=of_both.labels, label_columns=of_both.label_columns)
        binary[label] = replace(made, label=applies[made.label], index=index)
    return binary


def _read_models(
    tables: Mapping[str, object], binary: Mapping[str, Annotations], item: MaybeText
) -> dict[str, Predictions]:
    """Of each label the models' probabilities that it applies, and that it does not."""
    index = next(iter(binary.values())).index
    known = [frames.text(frames.as_series(index.items))]
    of_label: dict[str, dict[str, Table]] = {label: {} for label in binary}
    for model, made in tables.items():
        if not isinstance(made, Table):
            raise InputError(
                f"a table without names for model {quote(model)}",
                "a path, or a table with a column of items and one of each label",
                "Name its columns.",
            )
        made = made.with_own_items(item)
        frame, source = made.whole
        own, _ = item_column(made, item if item in frame.columns else None, known)
        for label in binary:
            check.need_columns(frame.columns, {"label": label}, source.name, CALLED)
            columns = frames.as_polars({ITEM: frame.get_column(own), NO_YES[1]: frame.get_column(label)})
            called = replace(source, columns={ITEM: own, NO_YES[1]: label})
            of_label[label][model] = FrameTable(columns, made.name, source=called, stored=made.stored)
    return {label: read_predictions(of_label[label], votes.index, ITEM) for label, votes in binary.items()}


def _mean_scores(listed: Sequence[Scores], binary: Sequence[Annotations]) -> Scores:
    """Each item's loss as the mean over its labels; with the annotators behind it where opinions are asked for."""
    first = listed[0]
    values = np.mean([scores.values for scores in listed], axis=0)
    entropy = float(np.mean([scores.known.entropy or 0.0 for scores in listed]))
    known = replace(first.known, entropy=entropy, baseline=None)
    cautions = dict.fromkeys(line for scores in listed for line in scores.cautions)
    behind = first.labels
    if behind is not None:
        behind = None if behind.named_annotations is None else _patterns_behind(listed, binary)
    fitted = [scores.influence for scores in listed if scores.influence is not None]
    influence = np.sum(fitted, axis=0) / len(listed) if fitted else None
    kin = [scores.by_proper_rule for scores in listed if scores.by_proper_rule is not None]
    kin_of_mean = _mean_scores(kin, binary) if kin else None
    mean = replace(first, values=values, known=known, labels=behind, influence=influence, cautions=tuple(cautions))
    return replace(mean, by_proper_rule=kin_of_mean)


def _patterns_behind(listed: Sequence[Scores], binary: Sequence[Annotations]) -> LabelsBehind:
    """The sets of labels that annotators gave, as the labels of the mean loss."""
    scores = listed[0]
    annotations = binary[0]
    answers = np.stack([one.label for one in binary], 1)
    patterns, pattern = np.unique(answers, axis=0, return_inverse=True)
    index = replace(annotations.index, labels=tuple(f"{code:09d}" for code in range(len(patterns))))
    joint = replace(annotations, label=pattern.ravel(), index=index)
    counts = joint.counts()[positions(index.items, scores.items)]
    losses = np.zeros((*scores.values.shape, len(patterns)))  # model, item, pattern
    for column, of_label in zip(patterns.T, listed, strict=True):
        losses += np.asarray(of_label.label_values)[:, :, column] / len(listed)
    n_votes = counts.sum(1)
    shares = counts / n_votes[:, None]
    return LabelsBehind(losses, shares, "distribution", shares, n_votes, annotations=joint)
