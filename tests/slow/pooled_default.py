"""The default of the estimand `class`, its parts, the three defaults before it, and an oracle (four minutes).

The settings are those of `crowd_settings.py`. Columns: log loss of the true class; the mean difference of the default
from the best of the three before it in that setting and from `ability`, with standard errors of paired data sets; by
how much accuracies of annotators exceed the share of right answers; how often the default warns of shared errors. The
defaults before it are read from docs/validity/truth-earlier-defaults.csv: log losses by their own code at commit
78064419 on the same data sets (the last one; marginals drawn to the votes where a label drifts; free marginals).
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

RUNS, FIRST_SEED = 24, 1000
EARLIER = Path(__file__).parents[2] / "docs" / "validity" / "truth-earlier-defaults.csv"
NAMES = ("now", "before", "before that")  # Columns of that file
PARTS = ("dawid-skene-em", "ability", "perceived-class", "pooled")


def earlier_losses() -> dict[tuple[str, int], list[float]]:
    with EARLIER.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["setting"], int(row["data set"])): [float(row[name]) for name in NAMES] for row in rows}


def figures(case: Simulated) -> list[float]:
    """Log losses of oracle, smoothed shares and methods; then bias of accuracy, whether it warned and converged."""
    annotations = annotations_of((case.item, case.annotator, case.label, case.truth, case.n_labels))
    shares = pt.infer_truth(annotations, "dirichlet", draws=0, prior=1 / case.n_labels)
    truths = [pt.infer_truth(annotations, method, draws=0) for method in PARTS]
    losses = [log_loss(probs, case.truth) for probs in (case.oracle, shares.probs, *(one.probs for one in truths))]
    default = truths[-1]
    accuracy = default.annotator_results["accuracy"][case.annotator]
    right = case.label == case.truth[case.item]
    warned = bool(shared_errors(default))
    return [*losses, float((accuracy - right).mean()), float(warned), float(bool(default.diagnostics["converged"]))]


def study(runs: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    earlier = earlier_losses()
    parts = ("oracle", "shares + 1/K", *PARTS[:-1], "**pooled**, the default")
    head = ("last default", "the one before", "and before", "against the best of these", "against ability")
    yield "truth-pooled", ("setting", *parts, *head, "bias of accuracy", "warned")
    for name, make in SETTINGS.items():
        code = zlib.crc32(name.encode())
        cases = [make(np.random.default_rng([code, FIRST_SEED + run])) for run in range(runs)]
        table = np.array([figures(case) for case in cases])
        before = np.array([earlier[name, run] for run in range(runs)])
        default, ability = table[:, 5], table[:, 3]
        best = before[:, before.mean(0).argmin()]
        gaps = [f"{gap.mean():+.3f} ({gap.std(ddof=1) / runs**0.5:.3f})" for gap in (default - best, default - ability)]
        means = [f"{value:.3f}" for value in (*table[:, :6].mean(0), *before.mean(0))]
        bias, warned, _ = table[:, 6:].mean(0)
        yield "truth-pooled", (name, *means, *gaps, f"{bias:+.3f}", f"{warned:.2f}")
