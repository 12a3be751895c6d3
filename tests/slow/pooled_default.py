"""The default of the estimand `class`: how far its class marginals follow the votes (ten minutes).

rare: one label is true of 0.1 to 50% of the items. leaning: labels are equally frequent, and 10 to 80% of the
annotators prefer one. both: a rare label that annotators prefer. 2 to 6 labels, 1 to 10 annotations an item, 100 to
1,000 items, good or poor annotators, errors independent or on hard items. Columns: log loss of the true class; its mean
difference from the first row, with its standard error; coverage of 95% intervals of two models' difference.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from crowds import annotations_of, assign, log_loss
from judged import losses_of, on_evidence, softmax

import probtruth as pt
from probtruth.truth.fit import INDEPENDENT, MethodRequest
from probtruth.truth.flat import flatten, plurality
from probtruth.truth.methods.ability import fit_ability
from probtruth.truth.methods.perceived_class import PerceptionSettings, fit_perceived
from probtruth.truth.methods.pooled import temper

RUNS, N_ANNOTATORS, T_95 = 100, 40, 1.97
SETTINGS = PerceptionSettings(0.3, 1.0, 60, 1)
KINDS, COLUMNS = ("rare", "leaning", "both"), ("against the first", "covered")
TEMPERED = ("anchored where a label drifts", "free")  # Also with marginals tempered as votes are

Random = np.random.Generator


@dataclass(frozen=True)
class Setting:
    """A crowd, two models' probabilities, and the true mean of what the second loses more."""

    annotations: pt.Annotations
    truth: np.ndarray
    models: np.ndarray
    difference: float


def setting(random: Random, kind: str) -> Setting:
    n_items, n_labels = int(random.choice([100, 300, 1000])), int(random.choice([2, 3, 4, 6]))
    per_item, centre = int(random.choice([1, 2, 3, 5, 10])), random.choice([0.65, 0.8, 0.9])
    rate = 1 / n_labels if kind == "leaning" else random.choice([0.001, 0.01, 0.05, 0.2, 0.5])
    prior = np.r_[rate, np.full(n_labels - 1, (1 - rate) / (n_labels - 1))]
    truth = random.choice(n_labels, n_items, p=prior)
    item, who = assign(random, n_items, N_ANNOTATORS, per_item)
    if random.random() < 0.5:
        ability = random.normal(np.log(centre / (1 - centre)), 0.6, N_ANNOTATORS)
        difficulty, distractor = random.normal(0, 1.2, n_items), truth + random.integers(1, n_labels, n_items)
        right = random.random(len(item)) < 1 / (1 + np.exp(difficulty[item] - ability[who]))
        other = np.where(random.random(len(item)) < 0.6, distractor[item], random.integers(n_labels, size=len(item)))
        label = np.where(right, truth[item], other % n_labels)
    else:
        skill = random.beta(8 * centre, 8 * (1 - centre), (N_ANNOTATORS, n_labels))
        wrong = random.gamma(1.0, 1.0, (N_ANNOTATORS, n_labels, n_labels)) * (1 - np.eye(n_labels))
        confusion = (1 - skill)[:, :, None] * wrong / wrong.sum(2, keepdims=True)
        confusion += skill[:, :, None] * np.eye(n_labels)
        steps = np.cumsum(confusion[who, truth[item]], 1)
        label = (random.random((len(item), 1)) >= steps).sum(1).clip(max=n_labels - 1)
    if kind != "rare":
        prefer = random.random(N_ANNOTATORS) < random.choice([0.1, 0.3, 0.5, 0.8])
        strength = random.uniform(0.2, 0.7)
        if random.random() < 0.5:  # always, or only where the answer would be wrong
            label = np.where(prefer[who] & (random.random(len(item)) < strength), 0, label)
        else:
            label = np.where(
                prefer[who] & (label != truth[item]) & (random.random(len(item)) < 1.4 * strength), 0, label
            )
    annotations = annotations_of((item, who, label, truth, n_labels))

    def models(truth: np.ndarray) -> np.ndarray:
        logits = 1.5 * np.eye(n_labels)[truth] + random.standard_normal((len(truth), n_labels))
        noise = 0.5 * random.standard_normal((2, *logits.shape))
        sharp = softmax(1.2 * logits + noise[0] + np.log(np.maximum(prior, 0.01)))
        return np.stack([sharp, softmax(0.8 * logits + noise[1] + np.eye(n_labels)[0])])

    many = random.choice(n_labels, 100_000, p=prior)
    first, second = np.log(models(many))[:, np.arange(len(many)), many]
    return Setting(annotations, truth, models(truth), float((second - first).mean()))


def answers(annotations: pt.Annotations) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Of every candidate: name, class probabilities, marginals, and the probabilities of independent annotators."""
    request = replace(MethodRequest.without_draws(annotations), seed=1)
    flat = flatten(request)
    counts = annotations.counts()
    voted, n_votes = plurality(counts).sum(0), counts.sum(1).astype(float)
    free = fit_ability(request, flat)
    far = free.probs.sum(0) - voted > 0.25 * voted + 3 * np.sqrt(voted + 1)
    where = free if not far.any() else fit_ability(request, flat, 1 + voted)
    fits = {"anchored where a label drifts": where, "free": free}
    fits |= {f"anchored by {weight:g}": fit_ability(request, flat, 1 + weight * voted) for weight in (0.05, 0.1)}
    for name, ability in fits.items():
        perceived, marginals = fit_perceived(request, flat, ability, SETTINGS).probs, np.exp(ability.log_marginals)
        base = np.full_like(marginals, 1 / len(marginals))
        both = (perceived + temper(ability.probs, marginals, n_votes, 0.4)) / 2
        yield name, both, marginals, ability.probs
        if name in TEMPERED:
            both = (perceived + temper(ability.probs, base, n_votes, 0.4)) / 2
            yield f"{name}, marginals tempered", both, marginals, ability.probs


def covered(case: Setting, probs: np.ndarray, marginals: np.ndarray, independent: np.ndarray) -> bool:
    """Whether the 95% interval of the models' difference, with their forecasts as evidence, holds the true one."""
    truth = pt.infer_truth(case.annotations, method="majority", draws=0)
    truth = replace(truth, method="pooled", probs=probs, marginals=marginals, evidence={INDEPENDENT: independent})
    loss = losses_of(on_evidence(truth, case.models), np.log(case.models[1] / case.models[0]))
    return abs(loss.mean() - case.difference) < T_95 * loss.std(ddof=1) / len(loss) ** 0.5


def study(runs: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    figures: dict[str, list[list[tuple[float, bool]]]] = {}  # candidate, kind, crowd
    for number, kind in enumerate(KINDS):
        for replicate in range(runs):
            case = setting(np.random.default_rng([replicate, number]), kind)
            for name, probs, *rest in answers(case.annotations):
                rows = figures.setdefault(name, [[] for _ in KINDS])
                rows[number].append((log_loss(probs, case.truth), covered(case, probs, *rest)))
    yield "truth-pooled", ("class marginals", *(word for kind in KINDS for word in (f"{kind}: log loss", *COLUMNS)))
    base = np.array(next(iter(figures.values())))[..., 0]
    for name, rows in figures.items():
        cells = []
        for kind, first in zip(np.array(rows), base, strict=True):
            loss, covers = kind.T
            gap = f"{(loss - first).mean():+.3f} ({(loss - first).std() / len(loss) ** 0.5:.3f})"
            cells += [f"{loss.mean():.3f}", gap, f"{covers.mean():.2f}"]
        yield "truth-pooled", (name, *cells)
