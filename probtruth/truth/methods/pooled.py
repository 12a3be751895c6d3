"""The default for one true class: perceived classes and tempered abilities, mixed."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize_scalar
from scipy.special import betaincinv

from probtruth import check
from probtruth.errors import InputError
from probtruth.truth.earlier import earlier_of, evidence
from probtruth.truth.fit import INDEPENDENT, MethodFit, MethodRequest, class_draws, evenly
from probtruth.truth.flat import FlatAnnotations, flatten
from probtruth.truth.methods.ability import fit_anchored
from probtruth.truth.methods.perceived_class import PerceptionSettings, fit_perceived
from probtruth.types import Annotations

RHO_WEIGHT = 6.0
"""How sharp the prior on rho is: Beta(6 rho, 6 (1 - rho))."""

NODES = 20
"""Equally likely values of rho over which tempering is averaged."""

SHARE = 0.2
"""Share of the annotations that are held out, at most one of an item, which keeps at least one."""


@check.checks_itself
def pooled(
    request: MethodRequest,
    *,
    weight: float | Literal["held-out"] = 0.5,
    rho: float = 0.4,
    epsilon: float = 0.3,
    delta: float = 1.0,
    sweeps: int | None = None,
    chains: int = 2,
) -> MethodFit:
    """q_i = w perceived-class + (1 - w) tempered ability; the latter pi_k (q_ik / pi_k)^(1 / (1 + (n_i - 1) rho)).

    Two views of errors that annotators make together: perceived classes model them, tempering takes n_i annotations
    that are correlated by rho for the n_i / (1 + (n_i - 1) rho) independent ones that they are worth, averaged over
    rho. The class marginals pi keep their weight, since no annotation says them. Where either view is confidently
    wrong, the mixture is not.

    Arguments: `weight` is w, a half by default, or "held-out": the w that predicts a fifth of the annotations best
    from the others (stacking; twice the time). How well a view predicts annotations tells little about how well it
    knows the truth where annotators err together, which is why the default is a half. `rho` is the mean of its Beta
    prior, between 0 and 1; the others are those of `perceived-class`.

    Returns what `perceived-class` does, and `diagnostics["weight"]`; a draw is of one view or the other, by w.
    `evidence["independent"]` are the class probabilities of `ability` before tempering.

    Source: this package; see "Truth from annotators" in the documentation for its validity. The effective number is
    that of cluster sampling (Kish 1965, Survey Sampling).
    """
    settings = PerceptionSettings(epsilon, delta, sweeps, chains)
    mean_rho, flat = check.number(rho, "rho", above=0, below=1, hint="The default is 0.4."), flatten(request)
    if weight == "held-out":
        share = _stacked(request, mean_rho, settings)
    else:
        hint = "The default is 0.5; 'held-out' finds one by stacking."
        share = check.number(weight, "weight", above=0, below=1, hint=hint)
    views = _views(request, flat, mean_rho, settings)
    mixed = share * views.perceived.probs + (1 - share) * views.tempered
    learned = evidence(mixed, flat, earlier_of(None, request.annotations))
    return replace(
        views.perceived,
        probs=mixed,
        draws=_mixed_draws(views.perceived.draws, views.tempered, share, request),
        confusion=share * views.perceived_confusion + (1 - share) * views.confusion,
        diagnostics={**views.perceived.diagnostics, "weight": share},
        evidence={**learned, INDEPENDENT: views.independent},
    )


@dataclass(frozen=True, eq=False)
class _Views:
    """Perceived classes; and of `ability` its class probabilities, tempered and not, and its confusion."""

    perceived: MethodFit
    tempered: Float[np.ndarray, "item label"]
    independent: Float[np.ndarray, "item label"]
    confusion: Float[np.ndarray, "annotator label label"]

    @property
    def perceived_confusion(self) -> Float[np.ndarray, "annotator label label"]:
        """The confusion of perceived classes, which every fit of them has."""
        assert self.perceived.confusion is not None
        return self.perceived.confusion


def _views(request: MethodRequest, flat: FlatAnnotations, rho: float, settings: PerceptionSettings) -> _Views:
    ability = fit_anchored(request, flat)
    perceived = fit_perceived(request, flat, ability, settings)
    n_votes = np.bincount(flat.item, flat.weight, flat.n_items)
    tempered = temper(ability.probs, np.exp(ability.log_marginals), n_votes, rho)
    return _Views(perceived, tempered, ability.probs, np.exp(ability.parameters[-1]))


def _stacked(request: MethodRequest, rho: float, settings: PerceptionSettings) -> float:
    """The share of perceived classes with which the mixture predicts held-out annotations best."""
    rest, rows = split(request.annotations, request.seed)
    fewer = replace(request, annotations=rest, draws=0)
    views = _views(fewer, flatten(fewer), rho, settings)
    return stacking_weight(
        predicted(views.perceived.probs, views.perceived_confusion, request.annotations, rows),
        predicted(views.tempered, views.confusion, request.annotations, rows),
    )


def split(annotations: Annotations, seed: int) -> tuple[Annotations, Int[np.ndarray, " row"]]:
    """The annotations without those held out, and the rows of the latter; at random, one of an item at most."""
    who = annotations.annotator
    n_votes = np.bincount(annotations.item, annotations.multiplicity, annotations.n_items)
    generator = np.random.default_rng([seed, 3])
    shuffled = generator.permutation(len(annotations.item))
    free = shuffled[(annotations.multiplicity[shuffled] == 1) & (n_votes[annotations.item[shuffled]] > 1)]
    _, first = np.unique(annotations.item[free], return_index=True)
    rows = np.sort(generator.permutation(free[first])[: max(int(SHARE * n_votes.sum()), 1)])
    if who is None or not len(rows):
        raise InputError(
            "weight='held-out' without an item of two annotations",
            "items with several annotations each",
            "Nothing can be held out here; leave weight as it is.",
        )
    rest = np.ones(len(annotations.item), bool)
    rest[rows] = False
    parts = annotations.item[rest], annotations.label[rest], who[rest], annotations.multiplicity[rest]
    return Annotations(*parts, annotations.index), rows


def predicted(
    probs: Float[np.ndarray, "item label"],
    confusion: Float[np.ndarray, "annotator label label"],
    annotations: Annotations,
    rows: Int[np.ndarray, " row"],
) -> Float[np.ndarray, " row"]:
    """The probability of each of these annotations: sum_k P(z_i = k) P(annotator j answers y | k)."""
    who = annotations.annotator
    answers = confusion[who[rows], :, annotations.label[rows]]  # type: ignore[index]
    return np.asarray((probs[annotations.item[rows]] * answers).sum(1))


def stacking_weight(first: Float[np.ndarray, " row"], second: Float[np.ndarray, " row"]) -> float:
    """The share w of the first view at the maximum of sum log(w first + (1 - w) second) + log w + log(1 - w).

    The last two terms are a Beta(2, 2) prior: with few annotations held out the mixture stays near equal.

    Source: Yao et al. (2018), Using stacking to average Bayesian predictive distributions, doi:10.1214/17-BA1091.
    """

    def loss(w: float) -> float:
        return -float(np.log(w * first + (1 - w) * second).sum() + np.log(w) + np.log1p(-w))

    return float(minimize_scalar(loss, bounds=(1e-6, 1 - 1e-6), method="bounded").x)


def temper(
    probs: Float[np.ndarray, "item label"],
    marginals: Float[np.ndarray, " label"],
    n_votes: Float[np.ndarray, " item"],
    rho: float,
) -> Float[np.ndarray, "item label"]:
    """Class probabilities as if an item's annotations were correlated by rho, averaged over the prior of rho.

    Only what the annotations say beside the marginals is tempered: else a rare class would gain with every vote.
    """
    with np.errstate(divide="ignore"):
        logs, base = np.log(probs) - np.log(marginals), np.log(marginals)
    total = np.zeros_like(probs)
    for level in betaincinv(RHO_WEIGHT * rho, RHO_WEIGHT * (1 - rho), (np.arange(NODES) + 0.5) / NODES):
        tempered = logs / (1 + np.maximum(n_votes - 1, 0) * level)[:, None] + base
        powers = np.exp(tempered - tempered.max(1, keepdims=True))
        total += powers / powers.sum(1, keepdims=True)
    return total / NODES


def _mixed_draws(
    perceived: Float[np.ndarray, "draw item label"] | None,
    tempered: Float[np.ndarray, "item label"],
    share: float,
    request: MethodRequest,
) -> Float[np.ndarray, "draw item label"] | None:
    """A share of the draws of perceived classes, evenly spread, is replaced by draws of the tempered view."""
    if perceived is None:
        return None
    many = round((1 - share) * len(perceived))
    other = class_draws(tempered, many, request.seed)
    if other is not None:
        perceived[evenly(len(perceived), many)] = other
    return perceived
