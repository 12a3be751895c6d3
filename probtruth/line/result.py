"""The result of the pipeline: scores, comparison and warnings, and what follows from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from probtruth import display
from probtruth.errors import InputError
from probtruth.frames import from_rows
from probtruth.kernels.host import versions
from probtruth.line.letters import letters_of
from probtruth.line.standing import Standing, standing_of
from probtruth.study.choose_gold import choose_gold
from probtruth.types import Annotations, Audit, Comparison, Scores, Truth
from probtruth.types.frontier import Frontier
from probtruth.types.pairs import Pair, Rank
from probtruth.types.shown import Reported

if TYPE_CHECKING:  # a comparison of bare scores does without what has labels, and without JAX
    import polars

    from probtruth.line.analysis import Analysis
    from probtruth.line.labelled import Labelled, OtherEstimand
    from probtruth.line.next_step import NextStep


NO_ITEMS = ("a result without scores of single items", "one with them", "Evaluate by a scoring rule.")


@dataclass(frozen=True, eq=False, repr=False)
class Result(Reported):
    """The scores, their comparison, and the warnings, in the order of what they could change.

    `warned` are the warnings that do not depend on verdicts under other questions; `warnings` are all. `labelled` is
    what is known because the items have labels; None for bare scores. Without scores of single items the `values` of
    `scores` have no columns. `note` stands wherever the result is shown. `by_label` are the results of several labels,
    of which this is the mean; empty for one. `frontier` is what quality costs, where costs are known.
    """

    scores: Scores
    comparison: Comparison
    warned: tuple[str, ...]
    labelled: "Labelled | None" = None
    note: str | None = None
    by_label: Mapping[str, "Result"] = field(default_factory=dict)
    frontier: Frontier | None = None

    @classmethod
    def of(cls, shown: "Result | Comparison", costs: Mapping[str, float] | Scores | None = None) -> "Result":
        """A comparison as a result, without what it does not know: labels, and scores that were not kept.

        Arguments:
            shown: what `compare` or `evaluate` returned.
            costs: as in `Comparison.frontier`, for the report to say what quality costs.
        """
        if costs is not None:
            made = cls.of(shown)
            return replace(made, frontier=made.comparison.frontier(costs))
        if isinstance(shown, Result):
            return shown
        if not isinstance(shown, Comparison):
            hint = "Pass on what evaluate or compare returned."
            raise InputError(type(shown).__name__, "a Result or a Comparison", hint)
        scores = shown.scored
        if not isinstance(scores, Scores):
            items = range(int(str(shown.settings.get("n_items") or 0)))  # whose names are not known
            nothing = np.empty((len(shown.models), 0))
            scores = Scores(nothing, shown.models, items, shown.rule, audit=shown.audit or Audit())
        return cls(scores, shown, shown.warnings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings, the gravest first; the verdict under the other estimand is computed for them."""
        labelled = self.labelled
        return self.warned if labelled is None else (*labelled.other_warnings(), *self.warned)

    @property
    def verdicts_computed(self) -> bool:
        """Whether the verdicts under other questions, which take most of an evaluation's time, were read before."""
        return self.labelled is None or self.labelled.computed

    @property
    def truth(self) -> Truth | None:
        """The reference labels; None for bare scores."""
        return None if self.labelled is None else self.labelled.truth

    @property
    def annotations(self) -> Annotations | None:
        """The annotations that the truth was inferred from; None without them."""
        return None if self.labelled is None else self.labelled.annotations

    @property
    def other(self) -> "OtherEstimand | None":
        """The verdict under the estimand that was not asked for, where the annotations allow it.

        It is computed when it is first read, which takes most of the time of an evaluation.
        """
        return None if self.labelled is None else self.labelled.other

    @property
    def bounded(self) -> Comparison | None:
        """The comparison under the Brier score, where some mean score is infinite."""
        return None if self.labelled is None else self.labelled.bounded

    @cached_property
    def standing(self) -> Standing | None:
        """How far the leading model's lead stands, and what would turn it; None for one model."""
        method = None if self.labelled is None else self.labelled.method
        return standing_of(self.comparison, self.truth, self.other, method, self.scores, self.bounded)

    @property
    def first_standing(self) -> Standing | None:
        """The same without the verdicts under other questions, unless these were computed: a quick look."""
        if self.verdicts_computed:
            return self.standing
        return standing_of(self.comparison, scores=self.scores, bounded=self.bounded)

    @cached_property
    def next_step(self) -> "NextStep | None":
        """What to do with the result, such as the number of items that would probably decide; None for one model."""
        from probtruth.line.next_step import next_step

        return next_step(self)

    @cached_property
    def letters(self) -> Mapping[str, str]:
        """Compact letters by model: models that share one are not told apart. Empty for fewer than three models."""
        return letters_of(self.comparison)

    @property
    def audit(self) -> Audit:
        """What alignment by name left out."""
        return self.scores.audit

    @cached_property
    def analysis(self) -> "Analysis":
        """Everything that a report shows beyond the comparison; each part is computed when it is first asked for."""
        from probtruth.line.analysis import Analysis

        return Analysis(self.scores, self.comparison, self.labelled)

    @property
    def decomposition(self) -> Sequence[Mapping[str, Any]] | None:
        """The rows of `decompose`, one for each model; None for bare scores."""
        return self.analysis.decomposition

    def items(self) -> "polars.DataFrame":
        """One row for each item: its labels, and what every model scored and said on it.

        Returns: a frame in the order of the scores with the columns `item`; `group` where groups are known; with labels
        `votes` (their number), `label` (the most probable one, null where several tie) and `entropy` (of the votes, in
        nats); `score_MODEL` (in the units of the score), `label_MODEL` and `p_MODEL` (the model's most probable label,
        null where several tie, and its probability) for each model, the best first; `difference` (the score of the
        leading model minus that of the next).

        Errors: `InputError` where scores of single items are not known.

        >>> import probtruth as pt
        >>> rows = {"item": [1, 2, 3] * 2, "model": ["a"] * 3 + ["b"] * 3, "score": [0.1, 0.2, 0.1, 0.3, 0.3, 0.4]}
        >>> scores = pt.Scores.from_frame(rows, higher_is_better=False)
        >>> pt.Result.of(pt.compare(scores, engine="exact")).items().columns
        ['item', 'score_a', 'score_b', 'difference']
        """
        frame = self.analysis.items
        if frame is None:
            raise InputError(*NO_ITEMS)
        return frame

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

        Arguments:
            n: items, at least 10.
            a: one of two models that the choice is for; all models by default.
            b: the other of the two.
            groups: maps items to groups, each of which gets its share; by default those of the result.
            seed: of everything random: the same seed gives the same numbers.

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
        if not self.scores.values.size:
            raise InputError(*NO_ITEMS)
        rows = choose_gold(self.scores, n, a, b, groups, seed)
        return from_rows([{**row, "label": ""} for row in rows])

    def paragraph(self, latex: bool = False) -> str:
        """The result as a paragraph of a paper: what was compared, how, what came out, and with which software.

        Arguments:
            latex: asks for LaTeX, in which no name can become a command. Plain text otherwise.

        Returns: numbers of models and items, estimand, method, the difference of the two leading models with its 95%
        interval and probability, and the version of probtruth. The report has it under "To quote".

        >>> import probtruth as pt
        >>> rows = {"item": [1, 2, 3] * 2, "model": ["a"] * 3 + ["b"] * 3, "score": [0.1, 0.2, 0.1, 0.3, 0.3, 0.4]}
        >>> comparison = pt.compare(pt.Scores.from_frame(rows, higher_is_better=False), engine="exact")
        >>> pt.Result.of(comparison).paragraph().partition(" (")[0]
        'We compared 2 models on 3 items'
        """
        return str(display.module().paragraph(self, latex))

    def to_dict(self) -> dict[str, Any]:
        """The content of `result.json`: plain values; infinities and None as Python has them."""
        comparison, labelled = self.comparison, self.labelled
        groups = dict(comparison.group_results)
        proper = comparison.proper
        if proper is not None:
            proper_rule = {"rule": proper.rule, "models": _rows(proper.ranks), "pairwise": _rows(proper.pairs)}
        if comparison.groups:
            groups["by_group"] = comparison.groups
        return {
            "rule": comparison.rule,
            "truth": None if labelled is None else labelled.about(),
            "models": _rows(comparison.ranks),
            "pairwise": _rows(comparison.pairs),
            "verdict": None if self.standing is None else self.standing.to_dict(),
            "estimand": comparison.estimand,
            "uncertainty": dict(comparison.uncertainty),
            "uncertainty_intervals": dict(comparison.uncertainty_intervals),
            "unseen": dict(comparison.unseen),
            "gold": None if comparison.gold is None else dict(comparison.gold),
            "rope": comparison.rope,
            "decisions": dict(comparison.decisions),
            "higher_is_better": comparison.higher_is_better,
            "proper_rule": None if proper is None else proper_rule,
            "other_estimand": None if self.other is None else self.other.to_dict(),
            "groups": {name: _rows(rows) for name, rows in groups.items()},
            "frontier": None if self.frontier is None else self.frontier.to_dict(),
            "model_free_tests": _rows(comparison.model_free),
            "audit": _audit(self.audit, () if labelled is None else labelled.excluded),
            "engine": comparison.diagnostics.get("engine"),
            "diagnostics": dict(comparison.diagnostics),
            "warnings": list(self.warnings),
            "settings": dict(comparison.settings),
            "seed": comparison.seed,
            "versions": versions(),
        }


def _rows(rows: Sequence[Mapping[str, Any]] | Sequence[Pair] | Sequence[Rank]) -> list[dict[str, Any]]:
    return [dict(row) for row in rows]


def _audit(audit: Audit, excluded: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "missing": len(audit.missing),
        "extra": len(audit.extra),
        "different": len(audit.different),
        "prompts": len(audit.prompts),
        "dropped": audit.dropped,
    }
    if audit.renormalised:
        sums = ("model", "rows", "lowest_sum", "highest_sum")
        values["renormalised"] = [dict(zip(sums, row, strict=True)) for row in audit.renormalised]
    if excluded:
        values["excluded_annotators"] = list(excluded)
    names = ("model", "missing", "extra")
    values["by_model"] = [dict(zip(names, row, strict=True)) for row in sorted(audit.by_model)]
    return values
