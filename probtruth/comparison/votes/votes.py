"""From votes on pairs of answers to the strengths of the models, with prompts and annotators as parts of the variance.

What a vote does to the strengths (its influence) is summed by prompt and by annotator: the variance needs no more than
that prompts, and annotators, are independent. It is never less than that of as many independent votes; as far as it is
just that, it is known, and what is above has the degrees of freedom of the prompts. The half votes of the fit count as
prompts of their own: they are what is left of the variance where one model wins every vote, or every vote is a tie.
Effective numbers of prompts and annotators come from the information of their votes.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_matrix
from scipy.special import stdtr

from probtruth import check
from probtruth.comparison.estimation.design import Design, effective, pair_rows_of, pairs_of, totals
from probtruth.comparison.estimation.estimate import (
    MANY,
    About,
    Estimate,
    Part,
    joined_df,
    part_of,
    power_sums,
    rows_from_models,
)
from probtruth.comparison.posterior.margin import margins
from probtruth.comparison.votes.fit import Fit
from probtruth.errors import InputError
from probtruth.kernels.arrays import ratio
from probtruth.types import Votes
from probtruth.types.comparison import Row
from probtruth.types.pairs import Pair

FEW_ANNOTATORS = 5  # Effective annotators below which a note says so
FEW_VOTES, FEW_PROMPTS = 10, 5  # A pair with fewer is not asked whether strengths explain it
AT_ONCE = 64  # Rows of which the units are in memory at once
CHANCE = 0.01  # Probability, over all pairs, of a deviation from the strengths that is said without a reason
RULE = "strength (log-odds)"
UNKNOWN = "no chain of votes connects the two models"

PerRow = Float[np.ndarray, " row"]


def by_group(votes: Votes, plan: Design) -> Votes:
    """The votes on models of one group each: strengths differ by group, ties and sides do not."""
    group = plan.of_item()[votes.item] * len(votes.models)
    models = votes.models * plan.n_groups
    return replace(votes, left=votes.left + group, right=votes.right + group, models=models)


def estimate_of_votes(votes: Votes, plan: Design | None = None) -> tuple[Estimate, Fit, list[Row]]:
    """The estimate of the strengths, as losses, the fit, and what covariates add; `plan` has the prompts' groups."""
    plan = Design(np.array([len(votes.items)])) if plan is None else plan
    grouped = by_group(votes, plan) if plan.grouped else votes
    fit = Fit.of(grouped)
    by_name = np.argsort(np.array(votes.models), kind="stable")
    n_models = len(by_name)
    names = [votes.models[at] for at in by_name.tolist()]
    places = [group * n_models + by_name for group in range(plan.n_groups)]
    apart = fit.of_set[by_name]
    for name, place in zip(plan.group_names, places, strict=True):
        if plan.grouped and np.ptp(fit.of_set[place]):
            hint = "Leave the group or the groups out, or compare the models that it has votes on."
            raise InputError(f"group {check.quote(name)}: {UNKNOWN}", "votes in each group that connect all", hint)
    notes = _notes(votes, fit)

    def preference(row: Pair) -> tuple[float, float, float]:
        shares = fit.preference.at(np.array([row.difference, row.low, row.high])).tolist()
        return shares[0], shares[1], shares[2]

    about = About(
        rule=RULE,
        higher_is_better=True,
        models=votes.models,
        over="new prompts like these",
        of_means=False,
        notes=tuple(notes),
        unknown=UNKNOWN,
        preference=preference,
        curve=fit.preference,
    )
    observed = Observed.of(grouped, fit)
    chosen = np.eye(len(fit.inverse))[np.stack(places)]  # group, model, parameter
    of_groups = [observed.estimate(names, one, observed.effective(one), about) for one in chosen]
    whole = of_groups[0]
    if plan.grouped:
        mean_of = np.tensordot(plan.weights, chosen, 1)
        whole = observed.estimate(names, mean_of, observed.effective(mean_of), about)
    items = [one.items for one in of_groups]
    columns = Part(
        np.hstack([part.variance for part in items]),
        np.hstack([part.third for part in items]),
        np.hstack([part.df for part in items]),
    )
    mean = np.hstack([one.mean for one in of_groups])
    first, second = pairs_of(np.arange(n_models)).T
    mean[n_models:][apart[first] != apart[second]] = np.nan
    estimate = replace(whole, mean=mean, parts={**whole.parts, "items": columns}, design=plan)
    return estimate, fit, observed.covariates(list(votes.covariates))


@dataclass(frozen=True, eq=False)
class Observed:
    """The scores of the fit by prompt and annotator together, and the votes of each pair by prompt and by annotator."""

    scores: csr_matrix  # of cell and parameter
    item: Int[np.ndarray, " cell"]
    annotator: Int[np.ndarray, " cell"] | None
    fit: Fit
    votes: tuple[csr_matrix, ...]  # their variance, of pair and unit

    @classmethod
    def of(cls, votes: Votes, fit: Fit) -> "Observed":
        n_votes = len(votes.outcome)
        n_rows = fit.scores.shape[0]
        units = [votes.item]
        if votes.annotator is not None and len(votes.annotators) > 1:
            units.append(votes.annotator)
        pair = fit.pairs.of_vote
        by_unit = [csr_matrix((fit.variance, (pair, unit))) for unit in units]
        # every half vote is a prompt and an annotator of its own
        codes = [np.append(unit, unit.max() + 1 + np.arange(n_rows - n_votes)) for unit in units]
        cells, cell = np.unique(np.stack(codes), axis=1, return_inverse=True)
        of_cell = csr_matrix((np.ones(n_rows), (cell, np.arange(n_rows))))
        return cls(of_cell @ fit.scores, cells[0], cells[1] if len(units) > 1 else None, fit, tuple(by_unit))

    def effective(self, chosen: Float[np.ndarray, "model parameter"]) -> list[PerRow]:
        """The numbers of prompts and of annotators of like weight (Kish 1965), for each row."""
        pairs = self.fit.pairs
        rows = rows_from_models(chosen @ self.fit.inverse)
        weight = np.square(rows[:, pairs.left] - rows[:, pairs.right] + rows[:, -2:-1])
        found = []
        for by_unit in self.votes:
            with np.errstate(invalid="ignore"):  # NaN where nothing connects two models
                blocks = [
                    effective(weight[start : start + AT_ONCE] @ by_unit) for start in range(0, len(rows), AT_ONCE)
                ]
            found.append(np.fmax(np.concatenate(blocks), 1.0))
        return found

    def covariates(self, names: list[str]) -> list[Row]:
        """What each covariate adds to the log-odds, in units of its root mean square, with its 95% interval."""
        if not names:
            return []
        first = len(self.fit.strength)
        chosen = np.eye(len(self.fit.inverse))[first : first + len(names)]
        counts = [np.full(len(rows_from_models(chosen)), float(by_unit.shape[1])) for by_unit in self.votes]
        estimate = self.estimate(names, chosen, counts, About(rule=RULE, higher_is_better=True))
        rows: list[Row] = []
        for name, margin in zip(names, margins(estimate), strict=False):
            low, high = margin.interval()
            rows.append({"covariate": name, "effect": -margin.centre, "low": -high, "high": -low})
        return rows

    def estimate(
        self,
        names: list[str],
        chosen: Float[np.ndarray, "model parameter"],
        counts: list[PerRow],
        about: About,
    ) -> Estimate:
        """That of the parameters which are the models' strengths, or of means of them; `counts` are of units."""
        toward = chosen @ self.fit.inverse
        influence = -(self.scores @ toward.T).T
        # the variance of as many independent votes
        covariance = toward @ chosen.T
        first, second = pairs_of(np.arange(len(names))).T
        own = covariance.diagonal()
        chance = np.concatenate([own, own[first] + own[second] - 2 * covariance[first, second]])[:, None]
        n_items, *n_annotators = counts
        item_df = np.maximum(n_items - 1, 1.0)[:, None]
        of_items = totals(influence, self.item, int(self.item.max()) + 1)
        squares, _ = power_sums(of_items)
        variance = np.maximum(squares * (item_df + 1) / item_df, chance)
        df = joined_df(chance, np.full_like(chance, MANY), variance - chance, item_df)
        parts = {"items": Part(variance, np.zeros_like(variance), np.fmax(df, 1.0))}
        if self.annotator is not None:
            parts["annotators"] = self._of_annotators(influence, n_annotators[0][:, None] - 1)
        level = -chosen[:, :-1] @ self.fit.value

        def of_votes(a: int, b: int) -> float:
            (place,) = pair_rows_of(np.array([[a, b]]), len(names))
            return float(chance[len(names) + place, 0])

        return Estimate(
            tuple(names),
            rows_from_models(level)[:, None],
            parts,
            Design(np.array([of_items.shape[1]])),
            replace(about, means=level[[names.index(model) for model in about.models]]),
            within={"votes": of_votes},
        )

    def _of_annotators(self, influence: Float[np.ndarray, "model cell"], df: Float[np.ndarray, "row 1"]) -> Part:
        """What annotators' totals add to what single cells give (Cameron, Gelbach and Miller 2011,
        doi:10.1198/jbes.2010.07136)."""
        assert self.annotator is not None
        of_annotators = totals(influence, self.annotator, int(self.annotator.max(initial=0)) + 1)
        squares, cubes = power_sums(of_annotators[:, of_annotators.any(0)])
        # of one annotator nothing is known of others, of two all that two can tell; between them by the number
        counted = np.clip(df, 0.0, 1.0) ** 2
        df = np.maximum(df, 1.0)
        part = part_of(squares, cubes, df + 1.0, np.float64(1), df)
        of_cells, _ = power_sums(influence)
        chance = of_cells * (df + 1) / df
        extra = counted * np.maximum(part.variance - chance, 0.0)
        third = part.third * ratio(extra, part.variance) ** 1.5
        return Part(extra, third, part.df, raw=counted * part.variance)


def _notes(votes: Votes, fit: Fit) -> list[str]:
    notes = []
    if not votes.prompts_named:
        notes.append("no column of prompts: every vote counts as a prompt of its own; votes on one prompt go together")
    if votes.annotator is None:
        notes.append("no column of annotators: what their tastes add to the uncertainty is left out")
    elif len(votes.annotators) < 2:
        notes.append("one annotator: how others would vote is not known")
    elif (few := float(effective(np.bincount(votes.annotator)))) < FEW_ANNOTATORS:
        notes.append(
            f"the votes count as those of {few:.1f} annotators of like weight: how others would vote is hardly known"
        )
    if fit.of_set.any() and len(fit.of_set) == len(votes.models):
        sets = []
        for one in range(int(fit.of_set.max()) + 1):
            members = [votes.models[at] for at in np.flatnonzero(fit.of_set == one).tolist()]
            sets.append(check.shortlist(members, 3))
        notes.append(f"no chain of votes connects these sets of models: {'; '.join(sets[:3])}")
    return notes + _unexplained(votes, fit)


def _unexplained(votes: Votes, fit: Fit) -> list[str]:
    """A sentence on the pair whose votes differ most from what the strengths say, if not by chance."""
    sign = np.where(votes.left < votes.right, 1, -1)
    first = np.minimum(votes.left, votes.right)
    second = np.maximum(votes.left, votes.right)
    beyond = sign * (votes.outcome / 2 - fit.mean)
    cells, cell = np.unique(np.stack([first, second, votes.item]), axis=1, return_inverse=True)
    pairs, of_cell = np.unique(cells[:2], axis=1, return_inverse=True)
    in_cell = np.bincount(cell, beyond)
    n_prompts = np.bincount(of_cell)
    n_votes = np.bincount(of_cell, np.bincount(cell))
    total = np.bincount(of_cell, in_cell)
    square = np.bincount(of_cell, in_cell**2)
    tested = (n_votes >= FEW_VOTES) & (n_prompts >= FEW_PROMPTS) & (square > 0)
    if len(votes.models) < 3 or not tested.any():
        return []
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(total) / np.sqrt(square * n_prompts / (n_prompts - 1))
    p = np.where(tested, 2 * stdtr(n_prompts - 1.0, -t), 1.0)
    most = int(p.argmin())
    if p[most] * tested.sum() > CHANCE:  # Bonferroni, over all pairs
        return []
    one, other = [check.quote(votes.models[at]) for at in pairs[:, most].tolist()]
    outcome = (sign * votes.outcome)[of_cell[cell] == most]
    share = float(outcome.mean() / 2 + 0.5)
    expected = share - float(total[most] / n_votes[most])
    return [
        f"{one} is preferred to {other} in {share:.0%} of their "
        f"{len(outcome):,} votes, where the strengths of all models say {expected:.0%}: one strength a model does not "
        "explain who beats whom"
    ]
