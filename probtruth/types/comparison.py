"""Comparison: the posterior of all pairwise mean differences, and the decisions it supports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probtruth import check, frames
from probtruth.check import MaybeNumber, Texts
from probtruth.errors import InputError
from probtruth.types.frontier import Frontier, prices
from probtruth.types.pairs import Pair, Rank, from_the_leader
from probtruth.types.pairs import Row as Row
from probtruth.types.pairs import leaders as leaders
from probtruth.types.scores import Scores
from probtruth.types.shown import Reported

if TYPE_CHECKING:
    import polars
    import xarray

PEOPLE = "groups of annotators"  # The rows of `group_results` by each group of people


def leading_pair(ranks: Sequence[Rank]) -> tuple[str, str]:
    """The two models of highest P(best), the first one first."""
    first, second, *_ = leaders(ranks)
    return first.model, second.model


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reported):
    """Which model is better, and how certain that is.

    `pairs` and `ranks` are the rows of `pairwise()` and `ranking()`; `estimand` says in words what the differences are;
    `diagnostics` must pass for a sound result (max_rhat, min_ess, divergences; None if an engine has
    none); `warnings` are in plain words; `decisions` holds
    the smallest set of models that contains the best with probability 0.95 (`credible_set`), the `chosen` model
    (best mean score) with its `score`, each model's `rank_probability`, and with groups of annotators their
    `group_disagreement` and how many there are (`group_annotators`); `parts` makes the `uncertainty`, `tree` the
    `datatree`, and `tests` the model-free tests. `unseen` is what the columns of that name
    rest on (`confidence`, independent `n_units`), or the `reason` why they are unknown. `gold` says on how many items
    experts' answers anchor the comparison, how these were chosen, and what weight the inferred scores have next
    to them; None without such answers. `proper` is the comparison by the proper rule of the kind of an improper
    official score; None of other scores. `scored` are the scores that were compared, for the report; None where they
    are not known.
    """

    models: Texts
    pairs: Sequence[Pair]
    ranks: Sequence[Rank]
    estimand: str
    rule: str
    higher_is_better: bool
    rope: MaybeNumber
    seed: int
    diagnostics: Mapping[str, Any]
    parts: Callable[[], Mapping[str, MaybeNumber]] = field(repr=False)
    tree: "Callable[[], xarray.DataTree]" = field(repr=False)
    settings: Mapping[str, object]
    warnings: Texts = ()
    decisions: Mapping[str, object] = field(default_factory=dict)
    group_results: Mapping[str, Sequence[Pair]] = field(default_factory=dict)
    of_groups: Callable[[], Sequence[Pair]] = field(default=tuple, repr=False)
    tests: Callable[[], Sequence[Row]] = field(default=tuple, repr=False)
    part_intervals: Callable[[], Mapping[str, tuple[float, float] | None]] = field(default=dict, repr=False)
    unseen: Mapping[str, object] = field(default_factory=dict)
    gold: Mapping[str, object] | None = None
    proper: "Comparison | None" = None
    scored: Any = field(default=None, repr=False)
    audit: Any = field(default=None, repr=False)  # what was left out, where `scored` does not say it
    costs_drawn: Callable[..., Any] | None = field(default=None, repr=False)  # of scores that are costs
    difference_at: Callable[[float], float] | None = field(default=None, repr=False)  # of votes, at a share of them

    @cached_property
    def datatree(self) -> "xarray.DataTree":
        """The draws and their data as an ArviZ DataTree, made on first use."""
        return self.tree()

    @cached_property
    def model_free(self) -> Sequence[Row]:
        """The model-free tests of the pairs, of the leading models where there are many; made on first use."""
        return self.tests()

    @cached_property
    def uncertainty(self) -> Mapping[str, MaybeNumber]:
        """The shares of variance due to items, annotators and labels, made on first use."""
        return self.parts()

    @cached_property
    def uncertainty_intervals(self) -> Mapping[str, tuple[float, float] | None]:
        """The 95% interval of each of these shares: few annotators tell little of theirs; None if not known."""
        return self.part_intervals()

    @cached_property
    def groups(self) -> Sequence[Pair]:
        """The rows of `by_group()`; none without groups."""
        return self.of_groups()

    @cached_property
    def ranked(self) -> Sequence[Rank]:
        """The models, the likeliest to be the best first."""
        return leaders(self.ranks)

    @cached_property
    def ordered_pairs(self) -> Sequence[Pair]:
        """All pairs, each with the likelier best model as a, in the order of `ranked`."""
        return self.order_pairs(self.pairs)

    def order_pairs(self, rows: Sequence[Pair]) -> Sequence[Pair]:
        """The rows of pairs, such as those of a population of groups, as `ordered_pairs` has them.

        Arguments:
            rows: rows of pairs, as `group_results` holds them.
        """
        return from_the_leader(rows, [rank.model for rank in self.ranked])

    def pair(self, a: str, b: str) -> Pair:
        """The pair of two models, a minus b.

        Arguments:
            a: the model that comes first.
            b: the model that is subtracted.
        """
        found = next(pair for pair in self.pairs if {*pair.models} == {a, b})
        return found.seen_from(a)

    @cached_property
    def leading_pair_by_group(self) -> Sequence[Pair]:
        """The leading model minus the next one in every group; none without groups."""
        return self._leading_pair(self.groups)

    @cached_property
    def leading_pair_by_people(self) -> Sequence[Pair]:
        """The same by every group of annotators."""
        return self._leading_pair(self.group_results.get(PEOPLE, ()))

    def _leading_pair(self, rows: Sequence[Pair]) -> Sequence[Pair]:
        if not rows:
            return []
        first, second = leading_pair(self.ranks)
        return [row.seen_from(first) for row in rows if {*row.models} == {first, second}]

    @cached_property
    def rank_chances(self) -> Mapping[str, Sequence[float]]:
        """The probability of each rank, by model in their order; empty where they are not known."""
        rows = self.decisions.get("rank_probability")
        if not isinstance(rows, Sequence) or len(rows) < 2:
            return {}
        chances = {row["model"]: row["probability"] for row in rows}
        return {rank.model: chances[rank.model] for rank in self.ranked if rank.model in chances}

    def by_group(self) -> "polars.DataFrame":
        """One row for each group and pair: the difference in that group, partially pooled with the other groups.

        `difference` is the posterior mean in this group, `low` to `high` its 95% interval: between the group's
        own items and what the other groups say, the nearer to its own items the more they are and the more groups
        differ; `p_a_better` = P(a better in this group). No rows without groups.
        """
        columns = ("group", "a", "b", "difference", "low", "high", "p_a_better", "n_items")
        rows = [{name: row[name] for name in columns} for row in self.groups]
        return frames.from_rows(rows or [dict.fromkeys(columns)]).head(len(rows))

    def pairwise(self) -> "polars.DataFrame":
        """One row for each unordered pair, `a` before `b` by name.

        `difference` is the mean score of a minus that of b, in the score's own units and sign; `favours` names the
        better side. It has an equal-tailed 95% interval `low` to `high`; `p_a_better` = P(a is better) + P(equal)/2.
        `p_equivalent` = P(|difference| <= rope), null without a ROPE, as are `p_a_better_rope` and `p_b_better_rope`,
        the chances to be better by more than it: 1 less the second says that a is not worse by more (non-inferiority).
        `reason` says why a probability is null, or rests on twins.

        `unseen_rate` is the highest rate, at 95% confidence, of outcomes that would cost the leading model more than
        any observed; `unseen_difference` is the difference, and `unseen_p_a_better` P(a better), at that rate. Null
        where nothing is known of other outcomes.
        """
        rows = [dict(row) for row in self.pairs]
        return frames.from_rows(rows or [dict(Pair("", ""))]).head(len(rows))

    def ranking(self) -> "polars.DataFrame":
        """One row for each model, best mean score first.

        `score` is the plain mean over items in the orientation of the input, `low` to `high` its 95% interval;
        `p_best` the posterior probability of the best mean; `expected_rank` from 1; `expected_regret` the expected
        loss, in units of the score, of choosing this model rather than the best.

        `tier` counts from 1: a new one begins where P(all models above are better than all below, by more than the
        ROPE) is at least 0.975. Inside a tier the order is inconclusive.
        """
        return frames.from_rows([dict(row) for row in self.ranks])

    def annotators(self) -> "polars.DataFrame":
        """Of votes, one row for each annotator; no rows of other comparisons.

        `attention` is 1 where votes go with the strengths as those of all do, 0 at random; `ties` is the share of ties
        and `left` that of votes for the left answer, ties counted half: of all votes, and under `engine="nuts"` between
        equal answers, by the program. Each has its 95% interval (`_low`, `_high`). `at_random`: the attention is surely
        below 0.5.
        """
        rows = self.decisions.get("annotators")
        return frames.from_rows(rows if isinstance(rows, Sequence) else [])

    def model_free_tests(self) -> "polars.DataFrame":
        """The model-free tests of each pair, with p-values adjusted after Holm over all pairs of the comparison.

        Of more than 25 models those of the 25 best mean scores; what is not tested counts in the adjustment as if it
        were.
        """
        return frames.from_rows(self.model_free)

    def frontier(self, costs: Mapping[str, float] | Scores, rope: MaybeNumber = None) -> Frontier:
        """What quality costs: P(no model beats it in both score and cost) of each model, from the joint draws.

        Arguments:
            costs: a number for each model, in any unit; less is better. Or `Scores` that are costs of the same models
                and items: their means are unsure too, together with those of the scores.
            rope: the largest difference from the best mean score that does not matter, of votes in points of the
                preference; default: the comparison's.

        Returns: a `Frontier`, whose `table()` has the models by cost and whose `cheapest` is the cheapest model whose
        mean is within the ROPE of the best with probability 0.95; None where no model is, or without a ROPE.

        Errors: `InputError` for a model without a cost, a negative one, or where P(best) is not known.

        >>> import probtruth as pt
        >>> table = {"item": [1, 2, 3] * 2, "model": ["a"] * 3 + ["b"] * 3, "score": [0.1, 0.3, 0.2, 0.5, 0.4, 0.7]}
        >>> scores = pt.Scores.from_frame(table, higher_is_better=False)
        >>> pt.compare(scores).frontier({"a": 0.02, "b": 0.11}).table()["p_frontier"][0]
        1.0
        """
        if any(rank.p_best is None for rank in self.ranks):
            raise InputError(
                "a frontier where P(best) is not known", "models that are all compared", "See the reasons."
            )
        draws = self.datatree["posterior"]["contrast"]
        models = [str(name) for name in draws["model_name"].to_numpy()]
        losses = draws.to_numpy().reshape(-1, len(models)) * (-1.0 if self.higher_is_better else 1.0)
        score_of = {rank.model: rank.score for rank in self.ranks}
        scores = np.array([score_of[model] for model in models], np.float64)
        limit = self.rope if rope is None else check.number(rope, "rope", least=0)
        shown = limit
        if self.difference_at is not None:
            shown = check.as_float(self.settings.get("rope_in_points")) if rope is None else limit
            limit = None if shown is None else self.difference_at(shown)
        if isinstance(costs, Scores):
            if self.costs_drawn is None:
                hint = "Compare scores of items, or give each model a price."
                raise InputError("costs by item beside a comparison of sums, or metrics", "scores of items", hint)
            drawn = self.costs_drawn(costs, models, losses)
        else:
            drawn = np.broadcast_to(prices(costs, models), losses.shape)
        return replace(Frontier.of(models, scores, losses, drawn, limit), rope=shown)

    def save(self, path: str | Path) -> None:
        """Writes the DataTree as netCDF, which `arviz.from_netcdf` reads.

        Arguments:
            path: the file.
        """
        import h5netcdf
        from xarray.backends import H5NetCDFStore

        # not `to_netcdf`: where Dask is installed, that loads `distributed`, only to ask for clients
        with h5netcdf.File(path, "w") as file:
            for node in self.datatree.subtree:
                node.to_dataset(inherit=node.is_root).dump_to_store(H5NetCDFStore(file, node.path))
