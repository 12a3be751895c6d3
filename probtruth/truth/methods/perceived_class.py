"""Items that everybody can misperceive: errors that annotators make together, on the same hard items."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.truth import em, gibbs
from probtruth.truth.annotators import annotator_columns
from probtruth.truth.fit import MethodFit, MethodRequest, affordable, class_rows
from probtruth.truth.flat import FlatAnnotations, flatten
from probtruth.truth.methods.ability import confusion_of, fit_anchored

# Prior sd of log delta and log epsilon. Data tell little about them: dependence hides in confident wrong classes.
LOG_SPREAD = 0.3

CONFUSABLE_FLOOR = 0.01  # Added to the pooled confusion before it tells which classes are mistaken for which

# Prior mean and sd of log kappa_s: how alike annotators answer for a perceived label.
LOG_KAPPA = (float(np.log(10.0)), 1.0)

ANSWER_COUNTS = (8.0, 0.5)  # Prior pseudo-counts of the annotators' mean confusion, on the diagonal and off it

FIRST_STEP = -1.5  # Log of the random walks' first step size; warm-up tunes it

# Annotations times labels times sweeps of a chain, and the bounds of the latter, where no number is given.
SWEEP_BUDGET, FEWEST, MOST = 1e7, 60, 800

# Chains agree if their class probabilities differ from the mean by less than this, on average over the table. Other
# quantities are not reported: delta and epsilon mix slowly, and classes hardly depend on them.
SAME_PROBS = 0.03


@dataclass(frozen=True)
class PerceptionSettings:
    """The options of the method; `sweeps` without a number follow the size of the data."""

    epsilon: float
    delta: float
    sweeps: int | None
    chains: int

    def __post_init__(self) -> None:
        check.number(self.delta, "delta", above=0)
        check.number(self.epsilon, "epsilon", above=0)
        if self.sweeps is not None:
            check.whole(self.sweeps, 4, "sweeps")
        check.whole(self.chains, 1, "chains")

    def sweeps_of(self, flat: FlatAnnotations) -> int:
        """Sweeps that each chain keeps."""
        size = int(flat.weight.sum()) * flat.n_labels
        return int(np.clip(SWEEP_BUDGET / size, FEWEST, MOST)) if self.sweeps is None else self.sweeps


def perceived_class(
    request: MethodRequest,
    *,
    epsilon: float = 0.3,
    delta: float = 1.0,
    sweeps: int | None = None,
    chains: int = 2,
) -> MethodFit:
    """phi_i | z_i = k ~ Dirichlet(delta e_k + epsilon c_k), s_n ~ phi_i is what the annotator sees."""
    flat, settings = flatten(request), PerceptionSettings(epsilon, delta, sweeps, chains)
    return fit_perceived(request, flat, fit_anchored(request, flat), settings)


def fit_perceived(
    request: MethodRequest, flat: FlatAnnotations, ability: em.EmRun, settings: PerceptionSettings
) -> MethodFit:
    """Runs the chains from starts spread around the solution of `ability`, and averages over them."""
    n_labels, centres = flat.n_labels, np.log([settings.delta, settings.epsilon])
    sweeps = settings.sweeps_of(flat)
    repeats = -(-affordable(request.draws, flat.n_items, n_labels) // (sweeps * settings.chains))
    rows = flat.each()
    confusable = _confusable(flat, confusion_of(ability))
    data = gibbs.GibbsData(flat.item[rows], flat.cell[rows], flat.known.T.copy(), ability.log_marginals, confusable)
    priors = gibbs.GibbsPriors((centres[0], LOG_SPREAD), (centres[1], LOG_SPREAD), LOG_KAPPA, ANSWER_COUNTS)

    def run(seed: np.random.SeedSequence) -> gibbs.GibbsChain:
        random = np.random.default_rng(seed)
        start = _start(random, flat, ability, centres)
        return gibbs.sample(random, data, priors, start, -(-sweeps // 2), sweeps, repeats)

    runs = [run(seed) for seed in np.random.SeedSequence([request.seed, 2]).spawn(settings.chains)]
    each = np.stack([chain.probs.T for chain in runs])
    probs, marginals = each.mean(0), np.exp(ability.log_marginals)
    confusion = np.mean([chain.confusion for chain in runs], 0).reshape(n_labels, -1, n_labels).transpose(1, 0, 2)
    delta, epsilon = np.mean([chain.ease for chain in runs], 0).tolist()
    difference = float(np.abs(each - probs).mean())
    diagnostics = {
        "converged": difference <= SAME_PROBS,
        "chain_difference": difference,
        "delta": delta,
        "epsilon": epsilon,
        "sweeps": sweeps,
        "chains": settings.chains,
        "label_switching": em.label_switching(probs, flat),
        "ability_converged": ability.diagnostics["converged"],
    }
    return MethodFit(
        probs,
        class_rows(np.concatenate([chain.classes for chain in runs]), n_labels, request.draws),
        marginals,
        confusion,
        diagnostics,
        annotator_columns(probs, marginals, confusion, flat),
        {"difficulty": np.mean([chain.difficulty for chain in runs], 0)},
    )


def _start(
    random: np.random.Generator, flat: FlatAnnotations, ability: em.EmRun, centres: Float[np.ndarray, "2"]
) -> gibbs.GibbsState:
    """A chain's start: items' perceptions drawn around ability's classes, annotators as ability has them."""
    n_labels = flat.n_labels
    answers = np.where(np.eye(n_labels, dtype=bool), *ANSWER_COUNTS)
    return gibbs.GibbsState(
        gibbs.log_dirichlet(random, 4 * ability.probs.T + 0.5),
        confusion_of(ability).transpose(1, 0, 2).reshape(n_labels, -1),
        centres + LOG_SPREAD * random.standard_normal(2),
        np.concatenate([np.full((n_labels, 1), LOG_KAPPA[0]), np.log(answers)], 1),
        np.asarray(FIRST_STEP),
        np.full(n_labels, FIRST_STEP),
    )


def _confusable(
    flat: FlatAnnotations, confusion: Float[np.ndarray, "annotator label label"]
) -> Float[np.ndarray, "label label"]:
    """Which classes are mistaken for which: the pooled confusion off the diagonal, rows made to sum to 1."""
    votes = flat.n_annotations
    pooled = np.tensordot(votes / votes.sum(), confusion, 1) + CONFUSABLE_FLOOR
    np.fill_diagonal(pooled, 0.0)
    return np.asarray(pooled / np.maximum(pooled.sum(1, keepdims=True), np.finfo(float).tiny))
