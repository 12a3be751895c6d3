"""From votes on pairs of answers to the strengths of the models, with prompts and annotators as parts of the variance.

What a vote does to the strengths (its influence) is summed by prompt and by annotator: the variance needs no more than
that prompts, and annotators, are independent. It is never less than that of as many independent votes; as far as it is
just that, it is known, and what is above has the degrees of freedom of the prompts. The half votes of the fit count as
prompts of their own: they are what is left of the variance where one model wins every vote, or every vote is a tie.
Effective numbers of prompts and annotators come from the information of their votes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array, csr_matrix
from scipy.special import stdtr

from probtruth import check
from probtruth.check import Texts
from probtruth.comparison.estimation.design import Design, effective, pair_rows_of, pairs_of
from probtruth.comparison.estimation.estimate import (
    MANY,
    About,
    Estimate,
    Part,
    UnitsInGroups,
    joined_df,
    part_of,
    power_sums,
    rows_from_models,
)
from probtruth.comparison.estimation.shared_units import about_these
from probtruth.comparison.posterior.margin import margins
from probtruth.comparison.votes.annotators import of_covariates
from probtruth.comparison.votes.fit import Fit, Pairs
from probtruth.errors import InputError
from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import GroupFloats, RowGroup
from probtruth.types import Votes
from probtruth.types.comparison import Row
from probtruth.types.pairs import Pair

FEW_ANNOTATORS = 5  # Effective annotators below which a note says so
FEW_VOTES, FEW_PROMPTS = 10, 5  # A pair with fewer is not asked whether strengths explain it
CHANCE = 0.01  # Probability, over all pairs, of a deviation from the strengths that is said without a reason
RULE = "strength (log-odds)"
UNKNOWN = "no chain of votes connects the two models"


def by_group(votes: Votes, plan: Design) -> Votes:
    """The votes on models of one group each: strengths differ by group, ties and sides do not."""
    group = plan.of_item()[votes.item] * len(votes.models)
    models = votes.models * plan.n_groups
    return replace(votes, left=votes.left + group, right=votes.right + group, models=models)


def estimate_of_votes(votes: Votes, plan: Design | None = None) -> tuple[Estimate, Fit, list[Row]]:
    """The estimate of the strengths, as losses, the fit, and what covariates add; `plan` has the prompts' groups."""
    plan = Design(np.array([len(votes.items)])) if plan is None else plan
    fit = Fit.of(by_group(votes, plan))
    by_name = np.argsort(votes.models, kind="stable")
    n_models = len(by_name)
    places = by_name + n_models * np.arange(plan.n_groups)[:, None]  # of group and model, among the parameters
    set_of = fit.of_set[places]
    if plan.grouped:
        for name, sets in zip(plan.group_names, set_of, strict=True):
            if np.ptp(sets):
                hint = "Leave the group or the groups out, or compare the models that it has votes on."
                raise InputError(f"group {check.quote(name)}: {UNKNOWN}", "votes in each group that connect all", hint)

    def preference(row: Pair) -> list[float]:
        return list(fit.preference.at(np.array([row.difference, row.low, row.high])).tolist())

    annotator = None  # of each vote, with its group
    n_votes = np.zeros((1, plan.n_groups), np.int64)
    if votes.annotator is not None:
        annotator = votes.annotator * plan.n_groups + plan.of_item()[votes.item]
        n_votes = np.bincount(annotator, minlength=len(votes.annotators) * plan.n_groups).reshape(-1, plan.n_groups)
    n_in_group = int((n_votes > 0).sum(0).max())
    losses = -fit.value[places]
    means = plan.weights @ losses
    about = About(
        rule=RULE,
        higher_is_better=True,
        models=votes.models,
        means=means[np.argsort(by_name)],
        over="new prompts like these",
        of_means=False,
        notes=(*_notes(votes, fit.of_set[:n_models], n_in_group), *_unexplained(votes, fit)),
        unknown=UNKNOWN,
        preference=preference,
        curve=fit.preference,
    )
    influence = Influence.of(votes, fit, plan, annotator if n_in_group > 1 else None)
    chosen = np.eye(len(fit.inverse))[places]  # group, model, parameter
    over_groups = np.tensordot(plan.weights, chosen, 1)
    chance = influence.chance(over_groups)
    parts = influence.parts(over_groups)
    if plan.grouped:
        of_groups = [influence.parts(one)["items"] for one in chosen]
        variance = np.hstack([part.variance for part in of_groups])
        df = np.hstack([part.df for part in of_groups])
        parts["items"] = Part(variance, np.zeros_like(variance), df)
    mean = rows_from_models(losses.T)
    first, second = pairs_of(np.arange(n_models)).T
    mean[n_models:][set_of[0, first] != set_of[0, second]] = np.nan

    def of_votes(a: int, b: int) -> float:
        (place,) = n_models + pair_rows_of(np.array([[a, b]]), n_models)
        return float(chance[place, 0])

    estimate = Estimate(tuple(sorted(votes.models)), mean, parts, plan, about, within={"votes": of_votes})
    if n_in_group > 1:
        estimate = replace(estimate, in_groups=UnitsInGroups.of(n_votes / n_votes.sum(0), plan.weights))
    return estimate, fit, influence.covariates(tuple(votes.covariates)) if votes.covariates else []


@dataclass(frozen=True, eq=False)
class Influence:
    """The scores of the fit summed by prompt and, where there are several, by annotator and by both together."""

    fit: Fit
    plan: Design
    scores: list[csr_matrix]  # of unit and parameter
    votes: list[csr_matrix]  # their variance, of unit (a prompt; an annotator in a group) and pair

    @classmethod
    def of(cls, votes: Votes, fit: Fit, plan: Design, annotator: Int[np.ndarray, " vote"] | None) -> "Influence":
        """Those of votes; `annotator` gave each of them, numbered by group, where annotators tell of others."""
        units = [votes.item]
        by_unit = [_by_pair(votes.item, len(votes.items), fit)]
        if annotator is not None:
            by_unit.append(_by_pair(annotator, len(votes.annotators) * plan.n_groups, fit))
            who = annotator // plan.n_groups
            _, cell = np.unique(votes.item * len(votes.annotators) + who, return_inverse=True)
            units += [who, cell]
        n_rows = fit.scores.shape[0]
        scores = []
        for unit in units:
            n_units = int(unit.max()) + 1
            # every half vote is a prompt and an annotator of its own
            codes = np.append(unit, n_units + np.arange(n_rows - len(unit)))
            of_unit = csr_matrix((np.ones(n_rows), (codes, np.arange(n_rows))))
            scores.append(of_unit @ fit.scores)
        return cls(fit, plan, scores, by_unit)

    def degrees_of_freedom(self, chosen: Float[np.ndarray, "model parameter"]) -> list[RowGroup]:
        """Those of prompts and of annotators, for each row: as many as units of like weight tell (Kish 1965)."""
        pairs = self.fit.pairs
        rows = rows_from_models(chosen @ self.fit.inverse)
        found = [np.zeros((len(rows), 1)) for _ in self.votes]
        weights = self.plan.weights
        with np.errstate(invalid="ignore"):  # NaN where nothing connects two models
            for at, row in enumerate(rows):
                weight = np.square(row[pairs.left] - row[pairs.right] + row[-2])
                by_prompt, *by_annotator = [by_unit @ weight for by_unit in self.votes]
                found[0][at] = effective(by_prompt) - 1
                for told in by_annotator:
                    found[1][at] = _df_in_groups(told.reshape(-1, len(weights)), weights)
        return [np.fmax(df, 0.0) for df in found]

    def power_sums(self, unit: int, chosen: Float[np.ndarray, "model parameter"]) -> tuple[RowGroup, RowGroup]:
        toward = chosen @ self.fit.inverse
        return power_sums(-(self.scores[unit] @ toward.T).T)

    def chance(self, chosen: Float[np.ndarray, "model parameter"]) -> RowGroup:
        """The variance of as many independent votes."""
        rows = rows_from_models(chosen)
        return np.asarray((rows @ self.fit.inverse * rows).sum(1, keepdims=True))

    def parts(
        self, chosen: Float[np.ndarray, "model parameter"], dfs: Sequence[RowGroup] | None = None
    ) -> dict[str, Part]:
        """The parts of the variance; `dfs` are of prompts and of annotators, by default as like ones tell."""
        of_prompts, *of_annotators = self.degrees_of_freedom(chosen) if dfs is None else dfs
        chance = self.chance(chosen)
        df = np.maximum(of_prompts, 1.0)
        squares, _ = self.power_sums(0, chosen)
        variance = np.maximum(squares * (df + 1) / df, chance)
        beyond = variance - chance
        joined = joined_df(chance, np.full_like(chance, MANY), beyond, beyond, df)
        parts = {"items": Part(variance, np.zeros_like(variance), np.fmax(joined, 1.0))}
        for told in of_annotators:
            # what annotators' totals add to what single cells give (Cameron, Gelbach and Miller 2011,
            # doi:10.1198/jbes.2010.07136); of one annotator nothing is known of others, of two all that two can tell
            counted = np.clip(told, 0.0, 1.0) ** 2
            df = np.maximum(told, 1.0)
            squares, cubes = self.power_sums(1, chosen)
            part = part_of(squares, cubes, df + 1.0, np.float64(1), df)
            of_cells, _ = self.power_sums(2, chosen)
            extra = counted * np.maximum(part.variance - of_cells, 0.0)
            third = part.third * ratio(extra, part.variance) ** 1.5
            parts["annotators"] = Part(extra, third, part.df, raw=counted * part.variance)
        return parts

    def covariates(self, names: Texts) -> list[Row]:
        """What each covariate adds to the log-odds, in units of its root mean square, with its 95% interval."""
        places = len(self.fit.of_set) + np.arange(len(names))
        chosen = np.eye(len(self.fit.inverse))[places]
        mean = rows_from_models(-self.fit.value[places])[:, None]
        n_units = [by_unit.shape[0] for by_unit in self.votes]
        n_units[1:] = [number // self.plan.n_groups for number in n_units[1:]]
        dfs = [np.full_like(mean, number - 1) for number in n_units]
        plan = Design(np.array([self.scores[0].shape[0]]))
        estimate = Estimate(names, mean, self.parts(chosen, dfs), plan, About(rule=RULE, higher_is_better=True))
        ends = np.empty((3, len(names)))
        for at, margin in enumerate(margins(estimate)[: len(names)]):
            low, high = margin.interval()
            ends[:, at] = -margin.centre, -high, -low
        return of_covariates(names, ends)


def _by_pair(unit: Int[np.ndarray, " vote"], n_units: int, fit: Fit) -> csr_matrix:
    """The variance of the votes of each unit on each pair."""
    return csr_matrix((fit.variance, (unit, fit.pairs.of_vote)), (n_units, len(fit.pairs.size)))


def _df_in_groups(told: Float[np.ndarray, "unit group"], weights: GroupFloats) -> float:
    """The number of units of like weight, less what groups take whose means are of the same units."""
    share = ratio(told, told.sum(0))
    square = float(((share @ weights) ** 2).sum())
    in_common = share.T @ share
    of_means = float(weights @ in_common**2 @ weights)
    return float(ratio(1.0 - of_means / square, square))


def _notes(votes: Votes, of_set: Int[np.ndarray, " model"], n_in_group: int) -> list[str]:
    """What must be said; `n_in_group` are the annotators of the group that has most."""
    notes = []
    if not votes.prompts_named:
        notes.append("no column of prompts: every vote counts as a prompt of its own; votes on one prompt go together")
    if votes.annotator is None:
        notes.append("no column of annotators: what their tastes add to the uncertainty is left out")
    elif len(votes.annotators) < 2:
        notes.append("one annotator: how others would vote is not known")
    elif n_in_group < 2:
        notes.append(about_these("annotator"))
    elif (few := float(effective(np.bincount(votes.annotator)))) < FEW_ANNOTATORS:
        notes.append(
            f"the votes count as those of {few:.1f} annotators of like weight: how others would vote is hardly known"
        )
    if of_set.any():
        sets = []
        for one in range(3):
            members = [votes.models[at] for at in np.flatnonzero(of_set == one).tolist()]
            sets += [check.shortlist(members, 3)] if members else []
        notes.append(f"no chain of votes connects these sets of models: {'; '.join(sets)}")
    return notes


def _unexplained(votes: Votes, fit: Fit) -> list[str]:
    """A sentence on the pair whose votes differ most from what the strengths say, if not by chance."""
    pairs = Pairs.of(votes.left, votes.right)
    n_pairs = len(pairs.size) // 2
    pair = pairs.of_vote % n_pairs
    toward = np.where(pairs.of_vote < n_pairs, 1, -1)
    n_votes = np.bincount(pair)
    by_prompt = csr_array((toward * (votes.outcome / 2 - fit.mean), (pair, votes.item)))
    n_prompts = np.diff(by_prompt.indptr)
    total = by_prompt.sum(1)
    square = by_prompt.power(2).sum(1)
    tested = np.flatnonzero((n_votes >= FEW_VOTES) & (n_prompts >= FEW_PROMPTS) & (square > 0))
    if not len(tested):
        return []
    df = n_prompts[tested] - 1.0
    t = np.abs(total[tested]) / np.sqrt(square[tested] * (df + 1) / df)
    p = 2 * stdtr(df, -t)
    if p.min() * len(tested) > CHANCE:  # Bonferroni, over all pairs
        return []
    most = tested[p.argmin()]
    one, other = [check.quote(votes.models[side[most]]) for side in (pairs.left, pairs.right)]
    share = float((toward * votes.outcome)[pair == most].mean() / 2 + 0.5)
    expected = share - float(total[most] / n_votes[most])
    return [
        f"{one} is preferred to {other} in {share:.0%} of their "
        f"{n_votes[most]:,} votes, where the strengths of all models say {expected:.0%}: one strength a model does not "
        "explain who beats whom"
    ]
