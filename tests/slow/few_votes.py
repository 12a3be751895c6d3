"""How well the distribution of opinions is found from few votes: items with 100 human labels, of which n are seen.

Needs ChaosNLI's SNLI part under PROBTRUTH_DATA (a few seconds). Cells: KL divergence of the other votes' shares from
the posterior mean (nats), and how often a count of the other votes lies in its 95% predictive interval.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars

import probtruth as pt

RUNS, VOTES, FLOOR = 5, (1, 3, 5, 10), 1e-12
METHODS = {
    "vote shares, zeros at 1e-12": ("vote-share", {}),
    "shares + 1": ("dirichlet", {"prior": 1}),
    "`dirichlet`": ("dirichlet", {}),
}


def judged(truth: pt.Truth, other: np.ndarray, generator: np.random.Generator) -> tuple[float, float]:
    """Divergence of the other votes' shares, and coverage of their counts (NaN without draws)."""
    shares = other / other.sum(1, keepdims=True)
    ratio = np.where(shares > 0, shares, 1) / np.maximum(truth.probs, FLOOR)
    divergence = float((shares * np.log(ratio)).sum(1).mean())
    if truth.draws is None:
        return divergence, float("nan")
    probs = truth.draws.astype(float)
    predicted = generator.multinomial(other.sum(1), probs / probs.sum(2, keepdims=True))
    low, high = np.quantile(predicted, [0.025, 0.975], axis=0)
    return divergence, float(((other >= low) & (other <= high)).mean())


def study(runs: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    file = Path(os.environ["PROBTRUTH_DATA"]) / "chaosnli_snli" / "label_counts.csv"
    counts = polars.read_csv(file).select("e", "n", "c").to_numpy()
    yield "truth-few-votes", ("method", *(f"n = {votes}" for votes in VOTES))
    for name, (method, options) in METHODS.items():
        cells = []
        for votes in VOTES:
            rows = []
            for subsample in range(runs):
                generator = np.random.default_rng([votes, subsample])
                few = np.stack([generator.multivariate_hypergeometric(row, votes) for row in counts])
                truth = pt.infer_truth(pt.Annotations.from_counts(few), method, draws=1000, **options)
                rows.append(judged(truth, counts - few, generator))
            divergence, covered = np.mean(rows, 0)
            cells.append(f"{divergence:.3f}" + ("" if np.isnan(covered) else f" ({covered:.3f})"))
        yield "truth-few-votes", (name, *cells)
