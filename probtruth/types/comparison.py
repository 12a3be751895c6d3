"""Comparison: the posterior of all pairwise mean differences, and the decisions it supports."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probtruth import check, frames
from probtruth.types.shown import Reported

if TYPE_CHECKING:
    import polars
    import xarray

Row = Mapping[str, Any]
Tests = Callable[[Collection[str] | None], Sequence[Row]]  # The model-free tests of the pairs of some models

LEAST_CHANCE = 0.001  # Below it, who is likelier to be the best hangs on a few draws


class _Columns:
    """The fields of a row by name, as the tables have them."""

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)

    def keys(self) -> list[str]:
        return [one.name for one in fields(self)]  # type: ignore[arg-type]  # the classes below are dataclasses


@dataclass(frozen=True)
class Pair(_Columns):
    """What is known of the difference of two models, a minus b, in the score's own units and sign.

    `low` to `high` is the equal-tailed 95% interval; `p_a_better` and `p_b_better` sum to 1; `p_equivalent` is None
    without a ROPE; `favours` says "a" or "b". What is not known is None, with the `reason`. `unseen_...` say what
    outcomes that no item showed could change; `shared_items` is on how many items both were scored, where some lack
    scores.
    """

    a: str
    b: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_a_better: float | None = None
    p_equivalent: float | None = None
    p_b_better: float | None = None
    favours: str | None = None
    reason: str | None = None
    unseen_rate: float | None = None
    unseen_difference: float | None = None
    unseen_p_a_better: float | None = None
    shared_items: int | None = None

    @property
    def models(self) -> tuple[str, str]:
        return self.a, self.b

    def seen_from(self, model: str) -> "Pair":
        """The same difference with this model as a."""
        if model == self.a:
            return self
        check.one_of(model, self.models, "model")
        chance = self.unseen_p_a_better
        return replace(
            self,
            a=self.b,
            b=self.a,
            difference=_negated(self.difference),
            low=_negated(self.high),
            high=_negated(self.low),
            p_a_better=self.p_b_better,
            p_b_better=self.p_a_better,
            favours={"a": "b", "b": "a"}.get(self.favours or ""),
            unseen_difference=_negated(self.unseen_difference),
            unseen_p_a_better=None if chance is None else 1.0 - chance,
        )


@dataclass(frozen=True)
class GroupPair(Pair):
    """The same in one group, of `n_items` items."""

    group: str = ""
    n_items: int = 0


@dataclass(frozen=True)
class Rank(_Columns):
    """What is known of a model: its mean score with its 95% interval, and where it stands among the others.

    `entropy` and `divergence` are the parts of a proper score; `p_best`, `expected_rank` (from 1), `expected_regret`
    (in units of the score) and `tier` (from 1) are None where nothing orders the models.
    """

    model: str
    score: float | None = None
    low: float | None = None
    high: float | None = None
    entropy: float | None = None
    divergence: float | None = None
    p_best: float | None = None
    expected_rank: float | None = None
    expected_regret: float | None = None
    tier: int | None = None


def _negated(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


def leaders(ranks: Sequence[Rank]) -> list[Rank]:
    """The models by probability of being the best and, where that is less than 0.001, by expected rank."""

    def order(row: Rank) -> tuple[float, float]:
        best = row["p_best"]
        rank = float("inf") if row["expected_rank"] is None else row["expected_rank"]
        if best is None:
            return 1.0, rank
        return (-best if best >= LEAST_CHANCE else 0.0), rank

    return sorted(ranks, key=order)


def leading_pair(ranks: Sequence[Rank]) -> tuple[str, str]:
    """The two models of highest P(best), the first one first."""
    first, second, *_ = leaders(ranks)
    return first["model"], second["model"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reported):
    """Which model is better, and how certain that is.

    `pairs` and `ranks` are the rows of `pairwise()` and `ranking()`; `estimand` says in words what the differences are;
    `diagnostics` must pass for a sound result (max_rhat, min_ess, divergences, engines_agree; None if an engine has
    none); `warnings` are in plain words; `decisions` holds
    the smallest set of models that contains the best with probability 0.95 (`credible_set`), the `chosen` model
    (best mean score) with its `score`, and each model's `rank_probability`; `parts` makes the `uncertainty`, `tree` the
    `datatree`, and `tests` the model-free tests of the pairs of some models. `unseen` is what the columns of that name
    rest on (`confidence`, independent `n_units`), or the `reason` why they are unknown. `gold` says on how many items
    experts' answers anchor the comparison, how these were chosen, and what weight the inferred scores have next
    to them; None without such answers. `scored` are the scores that were compared, for the report; None where they are
    not known.
    """

    models: tuple[str, ...]
    pairs: Sequence[Pair]
    ranks: Sequence[Rank]
    estimand: str
    rule: str
    higher_is_better: bool
    rope: float | None
    seed: int
    diagnostics: Mapping[str, Any]
    parts: Callable[[], Mapping[str, float | None]] = field(repr=False)
    tree: "Callable[[], xarray.DataTree]" = field(repr=False)
    settings: Mapping[str, object]
    warnings: tuple[str, ...] = ()
    decisions: Mapping[str, object] = field(default_factory=dict)
    group_results: Mapping[str, Sequence[Pair]] = field(default_factory=dict)
    of_groups: Callable[[], Sequence[GroupPair]] = field(default=tuple, repr=False)
    tests: "Tests" = field(default_factory=lambda: lambda models: (), repr=False)
    unseen: Mapping[str, object] = field(default_factory=dict)
    gold: Mapping[str, object] | None = None
    scored: Any = field(default=None, repr=False)

    @cached_property
    def datatree(self) -> "xarray.DataTree":
        """The draws and their data as an ArviZ DataTree, made on first use."""
        return self.tree()

    @cached_property
    def model_free(self) -> Sequence[Row]:
        """The model-free tests of the pairs, of the leading models where there are many; made on first use."""
        return self.tests(None)

    @cached_property
    def uncertainty(self) -> Mapping[str, float | None]:
        """The shares of variance due to items, annotators and labels, made on first use."""
        return self.parts()

    @cached_property
    def groups(self) -> Sequence[GroupPair]:
        """The rows of `by_group()`; none without groups."""
        return self.of_groups()

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
        better side. It has an equal-tailed 95% interval `low` to `high`; `p_a_better` = P(a is better) + P(equal)/2;
        `p_equivalent` = P(|difference| <= rope), null without a ROPE. `reason` says why a probability is null, or rests
        on twins.

        `unseen_rate` is the highest rate, at 95% confidence, of outcomes that would cost the leading model more than
        any that came; `unseen_difference` is the difference, and `unseen_p_a_better` P(a better), at that rate. Null
        where nothing is known of other outcomes.
        """
        return frames.from_rows([dict(row) for row in self.pairs])

    def ranking(self) -> "polars.DataFrame":
        """One row for each model, best mean score first.

        `score` is the plain mean over items in the orientation of the input, `low` to `high` its 95% interval;
        `p_best` the posterior probability of the best mean; `expected_rank` from 1; `expected_regret` the expected
        loss, in units of the score, of choosing this model rather than the best.

        `tier` counts from 1: a new one begins where P(all models above are better than all below, by more than the
        ROPE) is at least 0.975. Inside a tier the order as a whole is open.
        """
        return frames.from_rows([dict(row) for row in self.ranks])

    def model_free_tests(self, models: Collection[str] | None = None) -> "polars.DataFrame":
        """The model-free tests of each pair, with p-values adjusted after Holm over all pairs of the comparison.

        Arguments: `models` are those whose pairs are tested; all unless you name some, and of more than 25 models the
        25 of the best mean scores. What is not tested counts in the adjustment as if it were.

        Errors: `InputError` for a name that is no model's.
        """
        if models is None:
            return frames.from_rows(self.model_free)
        return frames.from_rows(self.tests([check.one_of(model, self.models, "model") for model in models]))

    def save(self, path: str | Path) -> None:
        """Writes the DataTree as netCDF, which `arviz.from_netcdf` reads."""
        import h5netcdf
        from xarray.backends import H5NetCDFStore

        # not `to_netcdf`: where Dask is installed, that loads `distributed`, only to ask for clients
        with h5netcdf.File(path, "w") as file:
            for node in self.datatree.subtree:
                node.to_dataset(inherit=node.is_root).dump_to_store(H5NetCDFStore(file, node.path))
