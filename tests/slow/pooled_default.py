"""The default of the estimand `class`, its parts, the three defaults before it, and an oracle (two minutes).

The settings are those of `crowd_settings.py`. Columns: log loss of the true class; the mean difference of the default
from the best of the three before it in that setting and from its part with independent errors, with standard errors of
paired data sets; by how much accuracies of annotators exceed the share of right answers; how often the default warns of
shared errors. The defaults before it are read from docs/validity/truth-earlier-defaults.csv: log losses by their code
at commit 78064419 on the same data sets (the last one; marginals drawn to the votes where a label drifts; free ones).
"""

import csv
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from crowd_settings import SETTINGS, Simulated
from crowds import annotations_of, log_loss

import probtruth as pt
from probtruth.line.labelled import shared_errors
from probtruth.truth.fit import INDEPENDENT, MethodRequest
from probtruth.truth.flat import flatten
from probtruth.truth.methods.pooled import INDEPENDENT_WEIGHT, usual_share_weight, with_shares

RUNS, FIRST_SEED = 24, 1000
EARLIER = Path(__file__).parents[2] / "docs" / "validity" / "truth-earlier-defaults.csv"
NAMES = ("now", "before", "before that")  # Columns of that file
PARTS = ("shares + 1/K", "independent errors", "hard items")


def earlier_losses() -> dict[tuple[str, int], list[float]]:
    with EARLIER.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["setting"], int(row["data set"])): [float(row[name]) for name in NAMES] for row in rows}


def figures(case: Simulated) -> list[float]:
    """Log losses of oracle, parts and default; then the bias of accuracy, and whether it warned."""
    annotations = annotations_of((case.item, case.annotator, case.label, case.truth, case.n_labels))
    shares = pt.infer_truth(annotations, "dirichlet", draws=0, prior=1 / case.n_labels).probs
    truth = pt.infer_truth(annotations, "pooled", draws=0, share_weight=0)
    flat = flatten(MethodRequest.without_draws(annotations))
    assert truth.marginals is not None
    default = with_shares(truth.probs, flat, usual_share_weight(flat), truth.marginals)
    independent = truth.evidence[INDEPENDENT]
    hard = (truth.probs - INDEPENDENT_WEIGHT * independent) / (1 - INDEPENDENT_WEIGHT)
    answers = case.oracle, shares, independent, hard, default
    losses = [log_loss(np.asarray(probs), case.truth) for probs in answers]
    accuracy = truth.annotator_results["accuracy"][case.annotator]
    right = case.label == case.truth[case.item]
    bias = float((accuracy - right).mean())  # NaN where nobody else answered an annotator's items
    return [*losses, bias, float(bool(shared_errors(truth)))]


def study(runs: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    earlier = earlier_losses()
    parts = ("oracle", *PARTS, "**pooled**, the default")
    head = ("last default", "the one before", "and before", "against the best of these", "against independent errors")
    yield "truth-pooled", ("setting", *parts, *head, "bias of accuracy", "warned")
    for name, make in SETTINGS.items():
        code = zlib.crc32(name.encode())
        cases = [make(np.random.default_rng([code, FIRST_SEED + run])) for run in range(runs)]
        table = np.array([figures(case) for case in cases])
        before = np.array([earlier[name, run] for run in range(runs)])
        _, _, independent, _, default, bias, warned = table.T
        best = before[:, before.mean(0).argmin()]
        gaps = [
            f"{gap.mean():+.3f} ({gap.std(ddof=1) / runs**0.5:.3f})" for gap in (default - best, default - independent)
        ]
        means = [f"{value:.3f}" for value in (*table[:, :5].mean(0), *before.mean(0))]
        yield "truth-pooled", (name, *means, *gaps, f"{np.nanmean(bias):+.3f}", f"{warned.mean():.2f}")
