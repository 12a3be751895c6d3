"""The whole line: annotations and predictions in, P(A beats B) out."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, cast

import numpy as np

from probtruth import check
from probtruth.comparison.compare import compare
from probtruth.comparison.evidence.crossed import same_few
from probtruth.errors import InputError
from probtruth.line.informed_truth import score_on_evidence
from probtruth.line.other_estimand import NO_ROOM, OtherEstimand, other_estimand
from probtruth.scoring.decompose import decompose
from probtruth.scoring.rules import get_rule
from probtruth.streaming.compare_files import Streamed
from probtruth.truth.infer import infer_truth
from probtruth.truth.options import Estimand, MethodName
from probtruth.types import Annotations, Audit, Comparison, Index, Predictions, Scores, Truth
from probtruth.types.index import look_alikes

VERSIONS = ("probtruth", "jax", "numpyro", "arviz", "numpy")
"""The packages whose versions a result names."""


@dataclass(frozen=True, eq=False)
class Result:
    """Everything that a report shows. `truth`, `predictions` and `decomposition` are None for bare scores.

    `other` is the verdict under the estimand that was not asked for, where the annotations allow it. `annotations` are
    those that the truth was inferred from; None where soft labels were given. Of files that were streamed, `scores` are
    what is known of them without the items, `about_truth` stands for the truth, and `sample` are the probabilities and
    labels of a random sample of the items (of all, if they are few).
    """

    truth: Truth | None
    predictions: Predictions | None
    scores: Scores | Streamed
    comparison: Comparison
    decomposition: Sequence[Mapping[str, Any]] | None
    warnings: tuple[str, ...]
    other: OtherEstimand | None = None
    note: str | None = None
    command: str | None = None
    annotations: Annotations | None = None
    about_truth: Mapping[str, object] | None = None
    sample: tuple[Predictions, Truth] | None = None

    @property
    def audit(self) -> Audit:
        """What alignment by name left out."""
        return self.scores.audit

    def to_dict(self) -> dict[str, Any]:
        """The content of `result.json`: plain values; infinities and None as Python has them."""
        comparison, audit = self.comparison, self.audit
        return {
            "rule": comparison.rule,
            "truth": self.about_truth if self.truth is None else about(self.truth),
            "models": [dict(row) for row in comparison.ranks],
            "pairwise": [dict(row) for row in comparison.pairs],
            "estimand": comparison.estimand,
            "uncertainty": dict(comparison.uncertainty),
            "rope": comparison.rope,
            "decisions": dict(comparison.decisions),
            "sensitivity": [dict(row) for row in comparison.sensitivity],
            "higher_is_better": comparison.higher_is_better,
            "other_estimand": None if self.other is None else self.other.to_dict(),
            "groups": _groups(comparison),
            "companions": [dict(row) for row in comparison.companions],
            "audit": {
                "missing": len(audit.missing),
                "extra": len(audit.extra),
                "different": len(audit.different),
                "prompts": len(audit.prompts),
                "dropped": audit.dropped,
                "by_model": [
                    {"model": m, "missing": missing, "extra": extra} for m, missing, extra in sorted(audit.by_model)
                ],
            },
            "diagnostics": dict(comparison.diagnostics),
            "warnings": list(self.warnings),
            "settings": dict(comparison.settings),
            "seed": comparison.seed,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in VERSIONS}},
        }


def _groups(comparison: Comparison) -> dict[str, list[dict[str, object]]]:
    tables = {**comparison.group_results, "by_group": comparison.groups} if comparison.group_results else {}
    return {name: [dict(row) for row in rows] for name, rows in tables.items()}


def evaluate(
    reference: object,
    predictions: object,
    *,
    method: str | None = None,
    estimand: str | None = None,
    evidence: str = "auto",
    rule: object = "log",
    floor: float | None = None,
    order: Sequence[object] | None = None,
    groups: object = None,
    clusters: object = None,
    weights: object = None,
    engine: str = "nuts",
    rope: object = None,
    seed: int = 0,
    strict: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Result:
    """From annotations (or soft labels) and predictions to the comparison of the models.

    Arguments: `reference` is `Annotations`, whose truth is inferred by `method` under `estimand` (see `infer_truth`),
    or a `Truth`; `evidence` for the class of an item is its annotators ("annotators") or the models' forecasts too
    ("annotators-and-models", the default where classes are inferred, see `informed_truth`); `rule`,
    `floor` and `order` as in `score`; `groups`, `clusters` (a mapping from item to name, or names in the order
    in which the caller gave the reference's items), `weights`, `engine`, `rope` and `strict` as in `compare`.

    Returns: a `Result` with the truth, the scores, the comparison and the warnings.

    Errors: `InputError` for input that cannot be used; `PosteriorError` where the data support no answer.

    >>> import probtruth as pt
    >>> votes = pt.Annotations.from_counts([[4, 1], [0, 5], [2, 3], [5, 0]])
    >>> models = {"a": [[0.8, 0.2], [0.1, 0.9], [0.5, 0.5], [0.9, 0.1]], "b": [[0.6, 0.4]] * 4}
    >>> result = pt.evaluate(votes, pt.Predictions.from_probs(models), engine="exact")
    >>> result.comparison.ranking()["model"].to_list()
    ['a', 'b']
    """
    if not isinstance(predictions, Predictions):
        raise InputError(
            f"{type(predictions).__name__}", "Predictions", "Use Predictions.from_probs or read_predictions."
        )
    if len(predictions.models) < 2:
        raise InputError(
            f"one model only ({check.shortlist(predictions.models)})", "at least two to compare", "Add another model."
        )
    if not isinstance(reference, Annotations | Truth):
        raise InputError(
            f"{type(reference).__name__}", "Annotations or Truth", "Use read_annotations or Truth.from_probs."
        )
    rule = get_rule(rule, order)
    lists = {"groups": groups, "clusters": clusters}
    of_item = tuple(_by_item(listed, reference.index, predictions.index, what) for what, listed in lists.items())
    reference, predictions = _aligned(reference, predictions)
    truth = truth_of(reference, method, estimand, seed)
    if evidence == "auto":
        inferred = isinstance(reference, Annotations) and truth.estimand == "class"
        evidence = "annotators-and-models" if inferred else "annotators"
    truth, scores = score_on_evidence(truth, predictions, evidence, rule, floor, seed)
    shared = isinstance(reference, Annotations) and same_few(reference) and truth.estimand == "distribution"
    annotations = reference if shared and scores.shares is not None else None
    comparison = compare(
        scores,
        *of_item,
        annotations=annotations,
        weights=weights,
        engine=engine,
        rope=rope,
        seed=seed,
        strict=strict,
        on_progress=on_progress,
    )
    unknown = [label for label in predictions.index.labels if label not in truth.index.labels]
    parts = decompose(predictions, truth, rule=rule, floor=floor).to_dicts()
    warnings = [*comparison.warnings, *of_method(truth), *of_labels((*truth.index.labels, *unknown))]
    other = None
    if isinstance(reference, Annotations):
        design = {"groups": of_item[0], "clusters": of_item[1], "weights": weights, "seed": seed}
        other = other_estimand(reference, predictions, comparison, truth, {"rule": rule, "floor": floor, **design})
        warnings += [said for said in (other and other.warning(),) if said]
        warnings += [NO_ROOM] if other is None and reference.annotator is not None else []
    given = reference if isinstance(reference, Annotations) else None
    return Result(truth, predictions, scores, comparison, parts, tuple(warnings), other, annotations=given)


def of_scores(scores: Scores, comparison: Comparison) -> Result:
    """A result from bare scores, which has no labels and no predictions."""
    return Result(None, None, scores, comparison, None, comparison.warnings)


def truth_of(reference: Annotations | Truth, method: str | None, estimand: str | None, seed: int) -> Truth:
    """The truth that is given, or inferred from annotations."""
    if isinstance(reference, Truth):
        if method is not None or estimand not in (None, reference.estimand):
            raise InputError(
                f"method {method!r} and estimand {estimand!r} with a truth that is given",
                "neither: the truth has its own",
                "Leave them out, or give annotations.",
            )
        return reference
    named = cast(MethodName | None, method), cast(Estimand | None, estimand)  # infer_truth checks both
    return infer_truth(reference, *named, seed=seed)


def _aligned(reference: Annotations | Truth, predictions: Predictions) -> tuple[Annotations | Truth, Predictions]:
    """Both sides under the same names, where one has some.

    Annotations get all labels of the predictions, and lose the items that nobody annotated.
    """
    predictions = predictions.named_by(reference.index)
    if isinstance(reference, Truth):
        return reference, predictions
    kept, gone = reference.named_by(predictions.index, "the predictions").annotated()
    index = predictions.index
    if gone and index.positional_items:
        check.length(len(index.items), reference.n_items, "items in the predictions")
        index = replace(index, positional_items=False)
        kept = replace(kept, index=replace(kept.index, positional_items=False))
    if not index.positional_labels and set(index.labels) >= set(kept.index.labels):
        kept = kept.with_labels(index)
    return kept, replace(predictions, index=index)


def _by_item(listed: object, reference: Index, predictions: Index, what: str) -> object:
    """A list by item as a mapping, since items may be dropped on the way; the list is in the caller's order of items.

    That is the order of the reference, or of the predictions where the reference has no names or no order.
    """
    if listed is None or isinstance(listed, Mapping):
        return listed
    names = np.asarray(listed).ravel().tolist()
    unordered = reference.positional_items or reference.item_rows is None
    index = predictions if unordered and not predictions.positional_items else reference
    check.length(len(names), len(index.items), f"items in {what}")
    return dict(zip(index.written_items(what), names, strict=True))


def about(truth: Truth) -> dict[str, object]:
    """What `result.json` says of a truth."""
    return {
        "method": truth.method,
        "estimand": truth.estimand,
        "n_items": truth.n_items,
        "n_annotators": len(truth.index.annotators) or None,
        "n_labels": len(truth.index.labels),
        "evidence": truth.diagnostics.get("evidence", "given" if truth.method == "given" else "annotators"),
        "model_weights": _weights(truth),
    }


def _weights(truth: Truth) -> list[dict[str, object]] | None:
    found = truth.diagnostics.get("model_weights")
    return [{"model": name, "weight": weight} for name, weight in found.items()] if isinstance(found, dict) else None


def of_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Warnings about labels that were probably meant to be one."""
    return tuple(
        f"labels that differ only in spaces, case or Unicode form are counted apart: {', '.join(map(ascii, names))}"
        for names in look_alikes(labels)
    )


def of_method(truth: Truth) -> tuple[str, ...]:
    """Warnings about how the truth was found."""
    said = []
    if truth.method == "majority":
        said.append(
            "majority vote takes every winning label as certain: it can reverse a ranking that soft labels keep"
        )
    if truth.diagnostics.get("converged") is False:
        steps = truth.diagnostics.get("n_iterations")
        said.append(f"{truth.method} did not converge" + (f" in {steps} iterations" if steps is not None else ""))
    if truth.diagnostics.get("label_switching"):
        said.append(f"{truth.method} found classes that agree better with the labels under other names")
    return tuple(said)
