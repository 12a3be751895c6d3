"""Ability: the fit is a maximum of its posterior, abilities are recovered, rare classes learn."""

import numpy as np
from scipy.special import log_softmax, logsumexp

import probtruth as pt
from probtruth.truth.fit import MethodRequest
from probtruth.truth.flat import flatten
from probtruth.truth.methods.ability import ABILITY_SPREAD, OWN_SPREAD, SHARED_DIAGONAL, SHARED_SPREAD, fit_ability


def objective(annotations: pt.Annotations, parts: list[np.ndarray]) -> float:
    """Log likelihood plus log prior, written out densely (marginals with one pseudo-count a label)."""
    log_marginals, a, b, d, g = parts
    log_answers = log_softmax(a[:, None, None] * g + b[:, None, :] + d, axis=2)
    joint = np.tile(log_marginals, (annotations.n_items, 1))
    np.add.at(joint, annotations.item, log_answers[annotations.annotator, :, annotations.label])
    centre = SHARED_DIAGONAL * (np.eye(len(g)) - 1 / len(g))
    prior = ((a - 1) ** 2).sum() / ABILITY_SPREAD**2 + ((b**2).sum() + (d**2).sum()) / OWN_SPREAD**2
    prior += ((g - centre) ** 2).sum() / SHARED_SPREAD**2
    return float(logsumexp(joint, axis=1).sum() + log_marginals.sum() - 0.5 * prior)


def test_fit_is_a_maximum(simulated) -> None:
    annotations, _, _ = simulated
    request = MethodRequest.without_draws(annotations)
    solution = fit_ability(request, flatten(request), max_iterations=20_000, tolerance=1e-10)
    parts = [solution.log_marginals, *solution.parameters[:4]]
    top = objective(annotations, parts)
    rounding = 1e-9
    np.testing.assert_allclose(solution.diagnostics["log_posterior"], top, rtol=rounding)
    generator = np.random.default_rng(0)
    slack = 1e-6  # what the last EM steps have left to gain along a direction
    for block in range(1, 5):
        for _ in range(20):
            moved = [part.copy() for part in parts]
            moved[block] += 1e-2 * generator.standard_normal(moved[block].shape)
            assert objective(annotations, moved) < top + slack


def test_abilities_are_recovered_in_order() -> None:
    generator = np.random.default_rng(3)
    skill, classes = np.linspace(0.2, 2.0, 12), generator.integers(3, size=300)
    logits = skill[:, None, None] * 3 * np.eye(3)
    chance = np.exp(logits) / np.exp(logits).sum(2, keepdims=True)
    label = [[generator.choice(3, p=chance[who, k]) for who in range(12)] for k in classes]
    item, annotator = np.divmod(np.arange(3600), 12)
    truth = pt.infer_truth(
        pt.Annotations.from_long({"item": item, "annotator": annotator, "label": np.ravel(label)}), "ability"
    )
    table = truth.annotators().sort("annotator", descending=False)
    found = truth.annotator_results["ability"]
    assert np.corrcoef(found, skill[[int(name) for name in truth.index.annotators]])[0, 1] > 0.95
    assert (table["ability_low"] < table["ability"]).all()
    assert (truth.probs.argmax(1) == classes).mean() > 0.95


def test_rare_classes_learn_from_common_ones() -> None:
    """With 2 per cent of a rare class, one confusion row each cannot learn it; shared ability can."""
    losses: dict[str, list[float]] = {"ability": [], "dawid-skene-em": []}
    for seed in range(4):
        generator = np.random.default_rng(seed)
        classes = generator.choice(3, 400, p=[0.6, 0.36, 0.04])
        right = generator.beta(6, 2, 20)
        rows: dict[str, list[int]] = {"item": [], "annotator": [], "label": []}
        for item, label in enumerate(classes):
            for who in generator.choice(20, 4, replace=False):
                correct = generator.random() < right[who]
                rows["item"].append(item)
                rows["annotator"].append(int(who))
                rows["label"].append(int(label if correct else (label + generator.integers(1, 3)) % 3))
        annotations = pt.Annotations.from_long(rows)
        for method in losses:
            probs = pt.infer_truth(
                annotations, method, draws=0, **({} if method == "ability" else {"diagonal": 1, "off_diagonal": 1})
            ).probs
            order = [int(name) for name in annotations.index.items]
            losses[method].append(float(-np.log(probs[np.arange(400), classes[order]]).mean()))
    assert np.mean(losses["ability"]) < np.mean(losses["dawid-skene-em"])
