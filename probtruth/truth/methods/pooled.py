"""The default for one true class: perceived classes and tempered abilities, mixed."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float
from scipy.stats import beta

from probtruth.errors import InputError
from probtruth.truth.earlier import evidence, nothing_earlier
from probtruth.truth.fit import INDEPENDENT, Fit, Request, class_draws
from probtruth.truth.flat import Flat, flatten
from probtruth.truth.held_out import foretold, split, stacking_weight
from probtruth.truth.methods.ability import fit_ability
from probtruth.truth.methods.perceived_class import as_fit, sample_perceived

RHO_WEIGHT = 6.0
"""How sharp the prior on rho is: Beta(6 rho, 6 (1 - rho))."""

NODES = 20
"""Equally likely values of rho over which tempering is averaged."""


def pooled(
    request: Request,
    *,
    weight: object = 0.5,
    rho: object = 0.4,
    epsilon: object = 0.3,
    delta: object = 1.0,
    sweeps: object = None,
    chains: object = 2,
) -> Fit:
    """q_i = w perceived-class + (1 - w) tempered ability; the latter q_ik^(1 / (1 + (n_i - 1) rho)), averaged over rho.

    Two views of errors that annotators make together: perceived classes model them, tempering takes n_i annotations
    that are correlated by rho for the n_i / (1 + (n_i - 1) rho) independent ones that they are worth. Where either is
    confidently wrong, the mixture is not.

    Arguments: `weight` is w, a half unless given, or "held-out": the w that foretells a fifth of the annotations best
    from the others (stacking; twice the time). How well a view foretells annotations says little of how well it knows
    the truth where annotators err together, which is why the default is a half. `rho` is the mean of its Beta prior,
    between 0 and 1; the others are those of `perceived-class`.

    Returns what `perceived-class` does, and `diagnostics["weight"]`; a draw is of one view or the other, by w.
    `evidence["independent"]` are the class probabilities of `ability` before tempering.

    Source: this package; see "Truth from annotators" in the documentation for its validity. The effective number is
    that of cluster sampling (Kish 1965, Survey Sampling).
    """
    level, flat = _between(rho, "rho"), flatten(request)
    settings = epsilon, delta, sweeps, chains
    share = _stacked(request, level, settings) if weight == "held-out" else _between(weight, "weight")
    first, tempered, confusion, independent = _views(request, flat, level, settings)
    mixed = share * first.probs + (1 - share) * tempered
    draws = _mixed_draws(first.draws, tempered, share, request)
    assert first.confusion is not None  # every fit of perceived classes has it
    confusion = share * first.confusion + (1 - share) * confusion
    learned = evidence(mixed, flat, nothing_earlier(request.annotations))
    return replace(
        first,
        probs=mixed,
        draws=draws,
        confusion=confusion,
        diagnostics={**first.diagnostics, "weight": share},
        evidence={**learned, INDEPENDENT: independent},
    )


def _views(
    request: Request, flat: Flat, rho: float, settings: tuple[object, object, object, object]
) -> tuple[Fit, Float[np.ndarray, "item label"], Float[np.ndarray, "annotator label label"], np.ndarray]:
    """Perceived classes, tempered class probabilities of ability, the latter's confusion, and what is tempered."""
    probs, ability, diagnostics = fit_ability(request, flat)
    found = sample_perceived(request, flat, ability, *settings)
    n_votes = np.bincount(flat.item, flat.weight, flat.n_items)
    return as_fit(request, flat, found, diagnostics), temper(probs, n_votes, rho), np.exp(ability[-1]), probs


def _stacked(request: Request, rho: float, settings: tuple[object, object, object, object]) -> float:
    """The share of perceived classes with which the mixture foretells held-out annotations best."""
    rest, rows = split(request.annotations, request.seed)
    fewer = replace(request, annotations=rest, draws=0)
    first, tempered, confusion, _ = _views(fewer, flatten(fewer), rho, settings)
    assert first.confusion is not None  # as above
    return stacking_weight(
        foretold(first.probs, first.confusion, request.annotations, rows),
        foretold(tempered, confusion, request.annotations, rows),
    )


def temper(
    probs: Float[np.ndarray, "item label"], n_votes: Float[np.ndarray, " item"], rho: float
) -> Float[np.ndarray, "item label"]:
    """Class probabilities as if an item's annotations were correlated by rho, averaged over the prior of rho."""
    with np.errstate(divide="ignore"):
        logs = np.log(probs)
    logs -= logs.max(1, keepdims=True)
    total = np.zeros_like(probs)
    for level in beta.ppf((np.arange(NODES) + 0.5) / NODES, RHO_WEIGHT * rho, RHO_WEIGHT * (1 - rho)):
        powers = np.exp(logs / (1 + np.maximum(n_votes - 1, 0) * level)[:, None])
        total += powers / powers.sum(1, keepdims=True)
    return total / NODES


def _mixed_draws(
    perceived: Float[np.ndarray, "draw item label"] | None,
    tempered: Float[np.ndarray, "item label"],
    share: float,
    request: Request,
) -> Float[np.ndarray, "draw item label"] | None:
    """A share of the draws of perceived classes, evenly spread, is replaced by draws of the tempered view."""
    if perceived is None:
        return None
    many = round((1 - share) * len(perceived))
    other = class_draws(tempered, many, request.seed)
    if other is not None:
        perceived[np.linspace(0, len(perceived) - 1, many).round().astype(int)] = other
    return perceived


def _between(value: object, what: str) -> float:
    if isinstance(value, (int, float, np.integer, np.floating)) and 0 < value < 1:
        return float(value)
    hint = "The default is 0.4." if what == "rho" else "The default is 0.5; 'held-out' finds one by stacking."
    raise InputError(f"{what} {value!r}", "a number between 0 and 1", hint)
