"""Items that everybody can misperceive: errors that annotators make together, on the same hard items."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt

from probtruth.inference.diagnostics import convergence
from probtruth.truth import em, gibbs
from probtruth.truth.annotators.quality import flags
from probtruth.truth.fit import Fit, Request, affordable
from probtruth.truth.flat import Flat, flatten, non_negative, whole
from probtruth.truth.methods.ability import fit_ability
from probtruth.truth.sampled import settled

LOG_SPREAD = 0.3
"""Prior sd of log delta and log epsilon. Data say little about them: dependence hides in confident wrong classes."""

CONFUSABLE_FLOOR = 0.01
"""Added to the pooled confusion before it tells which classes are mistaken for which."""

LOG_KAPPA = (float(np.log(10.0)), 1.0)
"""Prior mean and sd of log kappa_s: how alike annotators are in what they say of a perceived label."""

SAID_COUNTS = (8.0, 0.5)
"""Prior pseudo-counts of the annotators' mean confusion, on the diagonal and off it."""

FIRST_STEP = -1.5
"""Log of the random walks' first step size; warm-up tunes it."""

SWEEP_BUDGET, FEWEST, MOST = 1e7, 60, 400
"""Annotations times labels times kept sweeps of a chain, and the bounds of the latter, where none are asked for."""

SAME_PROBS = 0.01
"""Chains agree if their class probabilities differ from the mean by less than this, on average over the table."""


@dataclass(frozen=True, eq=False)
class Perceived:
    """Posterior means, and what was kept of every sweep, by chain."""

    probs: Float[np.ndarray, "item label"]
    phi: Float[np.ndarray, "item label"]
    confusion: Float[np.ndarray, "annotator label label"]
    classes: UInt[np.ndarray, "draw item"]
    accuracy: Float[np.ndarray, "sweep annotator"]
    skill: Float[np.ndarray, "sweep annotator"]
    information: Float[np.ndarray, "sweep annotator"]
    difficulty: Float[np.ndarray, " item"]
    diagnostics: dict[str, object]
    marginals: Float[np.ndarray, " label"]


def perceived_class(
    request: Request,
    *,
    epsilon: object = 0.3,
    delta: object = 1.0,
    sweeps: object = None,
    chains: object = 2,
) -> Fit:
    """phi_i | z_i = k ~ Dirichlet(delta e_k + epsilon c_k), s_n ~ phi_i is what the annotator sees, y_n ~ theta_j[s_n].

    An item can look like another class to everybody: then most annotators agree on a wrong label. Class marginals are
    those of `ability`, c_kl follows its pooled confusion off the diagonal, and theta_j[s] ~ Dirichlet(kappa_s m_s) with
    log kappa_s ~ N(log 10, 1), m_s ~ Dirichlet(8 on the diagonal, 0.5 off it). Blocked Gibbs sampling; probabilities
    are averages over sweeps of P(z_i | perceptions).

    Arguments: `epsilon` and `delta` are the prior medians of their parameters (log sd 0.3); their ratio sets how often
    an item looks like another class, of which the annotations say little. `sweeps` kept in each of `chains` chains,
    after half as many that are not (without it 400, fewer where annotations times labels exceed 25,000, at least 60).

    `max_rhat` and `min_ess` in `diagnostics` are those of delta and epsilon, which mix slowly; `probs_agree` says that
    the chains' class probabilities do, `converged` that these figures are sound as well.

    Returns draws of the class; in `annotators()`, with 95 per cent intervals, accuracy, skill (kappa with the truth, 0
    by chance) and information, and the flag "spammer" or "adversary"; in `by_item()` the difficulty, P(a perception is
    not of the true class).

    Source: this package; see the study of truth methods in the documentation.
    """
    flat = flatten(request)
    _, ability, diagnostics = fit_ability(request, flat)
    found = sample_perceived(request, flat, ability, epsilon, delta, sweeps, chains)
    return as_fit(request, flat, found, diagnostics)


def as_fit(request: Request, flat: Flat, found: Perceived, ability: dict[str, object]) -> Fit:
    """The posterior in the words of `Fit`; `ability` are the diagnostics of that method."""
    columns: dict[str, np.ndarray] = {
        "n_annotations": np.bincount(flat.annotator, flat.weight, flat.n_annotators).astype(np.int64)
    }
    for name in ("accuracy", "skill", "information"):
        values = getattr(found, name)
        low, high = np.quantile(values, [0.025, 0.975], axis=0)
        columns |= {name: values.mean(0, dtype=float), f"{name}_low": low, f"{name}_high": high}
    columns["flag"] = flags(columns["skill_low"], columns["skill_high"])
    diagnostics = found.diagnostics | {"ability_converged": ability["converged"]}
    draws = one_hot(found.classes, flat.n_labels, request.draws)
    return Fit(
        found.probs, draws, found.marginals, found.confusion, diagnostics, columns, {"difficulty": found.difficulty}
    )


def one_hot(
    classes: UInt[np.ndarray, "sweep item"], n_labels: int, draws: int
) -> Float[np.ndarray, "draw item label"] | None:
    """Draws of the class as rows with a single 1, spread evenly over those there are, within the budget."""
    kept = affordable(min(draws, len(classes)), classes.shape[1], n_labels)
    if draws == 0:
        return None
    chosen = np.linspace(0, len(classes) - 1, kept).round().astype(int)
    rows: np.ndarray = np.eye(n_labels, dtype=np.float32)[classes[chosen]]
    return rows


def sample_perceived(
    request: Request,
    flat: Flat,
    ability: em.Parameters,
    epsilon: object,
    delta: object,
    sweeps: object,
    chains: object,
) -> Perceived:
    """Runs the chains; the start is spread around the solution of `ability`."""
    n_rows = int(flat.weight.sum())
    centres = np.log([_positive(delta, "delta"), _positive(epsilon, "epsilon")])
    kept = (
        int(np.clip(SWEEP_BUDGET / (n_rows * flat.n_labels), FEWEST, MOST))
        if sweeps is None
        else whole(sweeps, 4, "sweeps")
    )
    n_chains = whole(chains, 1, "chains")
    wanted = affordable(request.draws, flat.n_items, flat.n_labels)
    repeats = max(1, -(-wanted // (kept * n_chains)))
    log_marginals, log_said = ability[0], ability[-1]
    rows = np.repeat(np.arange(len(flat.item)), flat.weight.astype(int))
    data = gibbs.Data(flat.item[rows], flat.cell[rows], flat.known.T.copy(), log_marginals, _confusable(flat, log_said))
    priors = gibbs.Priors((centres[0], LOG_SPREAD), (centres[1], LOG_SPREAD), LOG_KAPPA, SAID_COUNTS)

    def run(seed: np.random.SeedSequence) -> gibbs.Chain:
        random = np.random.default_rng(seed)
        start = _start(random, flat, ability, centres)
        return gibbs.sample(random, data, priors, start, -(-kept // 2), kept, repeats)

    runs = [run(seed) for seed in np.random.SeedSequence([request.seed, 2]).spawn(n_chains)]
    logs = np.stack([chain.ease for chain in runs])
    rhat, ess = convergence({"log_delta": logs[..., 0], "log_epsilon": logs[..., 1]})
    each = np.stack([chain.probs.T for chain in runs])
    probs = each.mean(0)
    delta_found, epsilon_found = np.exp(logs).mean((0, 1))
    difference = float(np.abs(each - probs).mean())
    diagnostics: dict[str, object] = {
        "probs_agree": difference <= SAME_PROBS,
        "converged": difference <= SAME_PROBS and settled(rhat, ess),
        "max_rhat": rhat,
        "min_ess": ess,
        "chain_difference": difference,
        "delta": float(delta_found),
        "epsilon": float(epsilon_found),
        "sweeps": kept,
        "chains": n_chains,
        "label_switching": em.label_switching(probs, flat),
    }
    n_labels = flat.n_labels
    confusion = np.mean([chain.confusion for chain in runs], 0).reshape(n_labels, -1, n_labels).transpose(1, 0, 2)
    quality = np.concatenate([chain.quality for chain in runs])
    return Perceived(
        probs,
        np.mean([chain.phi for chain in runs], 0).T,
        confusion,
        np.concatenate([chain.classes for chain in runs]),
        quality[:, 0],
        quality[:, 1],
        quality[:, 2],
        np.mean([chain.difficulty for chain in runs], 0),
        diagnostics,
        np.exp(log_marginals),
    )


def _start(random: np.random.Generator, flat: Flat, ability: em.Parameters, centres: np.ndarray) -> gibbs.State:
    """A chain's start: items' perceptions drawn around ability's classes, annotators as ability has them."""
    n_labels = flat.n_labels
    joint = np.tile(ability[0], (flat.n_items, 1)) + flat.known
    np.add.at(joint, flat.item, ability[-1][flat.annotator, :, flat.label] * flat.weight[:, None])
    joint -= joint.max(1, keepdims=True)
    probs = np.exp(joint) / np.exp(joint).sum(1, keepdims=True)
    said = np.where(np.eye(n_labels, dtype=bool), *SAID_COUNTS)
    return gibbs.State(
        gibbs.log_dirichlet(random, 4 * probs.T + 0.5),
        np.exp(ability[-1]).transpose(1, 0, 2).reshape(n_labels, -1),
        centres + LOG_SPREAD * random.standard_normal(2),
        np.concatenate([np.full((n_labels, 1), LOG_KAPPA[0]), np.log(said)], 1),
        np.asarray(FIRST_STEP),
        np.full(n_labels, FIRST_STEP),
    )


def _confusable(flat: Flat, log_said: Float[np.ndarray, "annotator label label"]) -> Float[np.ndarray, "label label"]:
    """Which classes are mistaken for which: the pooled confusion off the diagonal, rows made to sum to 1."""
    votes = np.bincount(flat.annotator, flat.weight, flat.n_annotators)
    pooled = np.tensordot(votes / votes.sum(), np.exp(log_said), 1) + CONFUSABLE_FLOOR
    np.fill_diagonal(pooled, 0.0)
    return np.asarray(pooled / np.maximum(pooled.sum(1, keepdims=True), np.finfo(float).tiny))


def _positive(value: object, what: str) -> float:
    number = non_negative(value, what)
    if number == 0:
        non_negative(-1, what)
    return number
