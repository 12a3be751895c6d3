"""The result of the line: everything that a report shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from probtruth.errors import InputError
from probtruth.frames import from_rows
from probtruth.kernels.host import versions
from probtruth.line.analysis import Analysis
from probtruth.line.analysis.standing import Standing, standing_of
from probtruth.line.bounds import Bounds
from probtruth.line.compare import compare
from probtruth.line.labelled import Labelled
from probtruth.line.other_estimand import OtherEstimand
from probtruth.streaming.compare_files import Streamed
from probtruth.study.choose_gold import choose_gold
from probtruth.types import Annotations, Audit, Comparison, RuleFacts, Scores, Truth
from probtruth.types.shown import Reported

if TYPE_CHECKING:
    import polars


def _as_result[**P](compare: Callable[P, Comparison]) -> "Callable[P, Result]":
    """`compare` with another type of result: it has the same arguments."""

    @wraps(compare, assigned=())
    def of_scores(*arguments: P.args, **named: P.kwargs) -> "Result":
        """What `compare` says of bare scores, or of a table of them, as a result that `write_report` takes.

        Arguments and errors: as in `compare`.
        """
        return Result.of(compare(*arguments, **named))

    return of_scores


@dataclass(frozen=True, eq=False, repr=False)
class Result(Reported):
    """Everything that a report shows.

    `labelled` is what is known because the items have labels; None for bare scores. Of input that was streamed,
    `scores` are what is known of them without the items. `note` stands wherever the result is shown, `command` is the
    command line that made it. `item_text` and `item_images` (as data URIs) are what the items are, by name, for the
    report to show; the page holds them only where they are here.
    """

    scores: Scores | Streamed
    comparison: Comparison
    warnings: tuple[str, ...]
    labelled: Labelled | None = None
    note: str | None = None
    item_text: Mapping[str, str] = field(default_factory=dict, repr=False)
    item_images: Mapping[str, str] = field(default_factory=dict, repr=False)
    command: str | None = None

    of_scores = staticmethod(_as_result(compare))

    @classmethod
    def of(cls, shown: "Result | Comparison") -> "Result":
        """A comparison as a result, without what it does not know: labels, and scores that were not kept."""
        if isinstance(shown, Result):
            return shown
        if not isinstance(shown, Comparison):
            raise InputError(
                type(shown).__name__, "a Result or a Comparison", "Pass on what evaluate or compare returned."
            )
        scores = shown.scored
        if scores is None:
            n_items, none = int(str(shown.settings.get("n_items") or 0)), np.zeros(len(shown.models), np.int64)
            scores = Streamed(shown, shown.models, shown.rule, RuleFacts(), n_items, none, Audit())
        return cls(scores, shown, shown.warnings)

    @property
    def truth(self) -> Truth | None:
        """The reference labels; None for bare scores."""
        return None if self.labelled is None else self.labelled.truth

    @property
    def annotations(self) -> Annotations | None:
        """The annotations that the truth was inferred from; None without them, or where predictions were streamed."""
        return None if self.labelled is None else self.labelled.annotations

    @property
    def other(self) -> OtherEstimand | None:
        """The verdict under the estimand that was not asked for, where the annotations allow it."""
        return None if self.labelled is None else self.labelled.other

    @property
    def bounds(self) -> Bounds | None:
        """What errors that annotators share could make of a comparison that rests on their votes; None elsewhere."""
        return None if self.labelled is None else self.labelled.bounds

    @cached_property
    def standing(self) -> Standing | None:
        """How far the leading model's lead stands, and what would turn it; None for one model."""
        method = None if self.labelled is None else self.labelled.method
        return standing_of(self.comparison, self.truth, self.other, method, self.bounds)

    @property
    def audit(self) -> Audit:
        """What alignment by name left out."""
        return self.scores.audit

    @cached_property
    def analysis(self) -> Analysis:
        """Everything that a report shows beyond the comparison; each part is computed when it is first asked for."""
        return Analysis(self.scores, self.comparison, self.labelled)

    @property
    def decomposition(self) -> Sequence[Mapping[str, Any]] | None:
        """The rows of `decompose`, one for each model; None for bare scores and for input that was streamed."""
        return self.analysis.decomposition

    def choose_gold(
        self,
        n: int,
        a: str | None = None,
        b: str | None = None,
        groups: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> "polars.DataFrame":
        """Which items to send to an expert, and with which probability each was chosen.

        Formula: the probability of an item is proportional to s_i + mean(s)/2, at most 1, and adds up to n; s_i is the
        posterior standard deviation of the models' difference of loss on it over its inferred class (of several models,
        the root mean square of all pairs; of `a` and `b` alone, where they are named), with a tenth of the class left
        to the frequencies of all, because annotators err together. No weight is more than three times that of a
        uniform sample.

        Arguments: `n` items, at least 10; `groups` maps items to groups, each of which gets its share.

        Returns: a frame with the columns `item`, `probability` and `label`. Fill in the last, and hand the frame or the
        file back as `gold` of `evaluate`. Fill in every row: what an expert leaves out is no longer left to chance.

        Errors: `InputError` for bare scores, another estimand than "class", and infinite losses.

        Source: Zrnic and Candes (2024), "Active statistical inference", arXiv:2403.03208

        >>> import probtruth as pt
        >>> rows = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.5, 0.5]] * 10
        >>> models = {"a": [[0.8, 0.2], [0.4, 0.6], [0.1, 0.9], [0.7, 0.3]] * 10, "b": [[0.6, 0.4]] * 40}
        >>> truth = pt.Truth.from_probs(rows, estimand="class")
        >>> result = pt.evaluate(truth, pt.Predictions.from_probs(models), engine="exact")
        >>> result.choose_gold(12).columns
        ['item', 'probability', 'label']
        """
        if not isinstance(self.scores, Scores):
            raise InputError("scores that were streamed", "scores in memory", "Raise memory=.")
        rows = choose_gold(self.scores, n, a, b, groups, seed)
        return from_rows([{**row, "label": ""} for row in rows])

    def to_dict(self) -> dict[str, Any]:
        """The content of `result.json`: plain values; infinities and None as Python has them."""
        comparison, audit = self.comparison, self.audit
        excluded = () if self.labelled is None else self.labelled.excluded
        workers = self.scores.workers if isinstance(self.scores, Streamed) else {}
        groups = {**comparison.group_results, "by_group": comparison.groups} if comparison.group_results else {}
        renormalised = [
            {"model": model, "rows": rows, "lowest_sum": low, "highest_sum": high}
            for model, rows, low, high in audit.renormalised
        ]
        return {
            "rule": comparison.rule,
            "truth": None if self.labelled is None else self.labelled.about(),
            "models": [dict(row) for row in comparison.ranks],
            "pairwise": [dict(row) for row in comparison.pairs],
            "verdict": None if self.standing is None else self.standing.to_dict(),
            "estimand": comparison.estimand,
            "uncertainty": dict(comparison.uncertainty),
            "unseen": dict(comparison.unseen),
            **({} if self.bounds is None else {"bounds": self.bounds.to_dict()}),
            "gold": None if comparison.gold is None else dict(comparison.gold),
            "rope": comparison.rope,
            "decisions": dict(comparison.decisions),
            "sensitivity": [dict(row) for row in comparison.sensitivity],
            "higher_is_better": comparison.higher_is_better,
            "other_estimand": None if self.other is None else self.other.to_dict(),
            "groups": {name: [dict(row) for row in rows] for name, rows in groups.items()},
            "companions": [dict(row) for row in comparison.companions],
            "audit": {
                "missing": len(audit.missing),
                "extra": len(audit.extra),
                "different": len(audit.different),
                "prompts": len(audit.prompts),
                "dropped": audit.dropped,
                **({"renormalised": renormalised} if renormalised else {}),
                **({"excluded_annotators": list(excluded)} if excluded else {}),
                "by_model": [
                    {"model": m, "missing": missing, "extra": extra} for m, missing, extra in sorted(audit.by_model)
                ],
            },
            "diagnostics": dict(comparison.diagnostics),
            "warnings": list(self.warnings),
            "settings": dict(comparison.settings),
            "seed": comparison.seed,
            "versions": {**versions(), **({"workers": dict(workers)} if workers else {})},
        }
