"""The estimand `attentive` on simulated crowds with 0 to 40 per cent clickers: shares and expected scores.

Run from the repository's root (about five minutes of one core):

    python tests/slow/clickers.py 24

Prints the table of docs/validity/clickers.md: for each share of clickers, so many crowds. Who reads an item answers
from its own distribution of opinions; a clicker answers at random, each label alike or from a habit of their own.
"""

import sys
import zlib
from dataclasses import dataclass

import numpy as np

import probtruth as pt

SHARES = (0.0, 0.05, 0.1, 0.2, 0.4)
N_ITEMS, N_ANNOTATORS, PER_ITEM, N_LABELS = 150, 20, 4, 3
SWEEPS = 120
NEW_ITEMS = 100_000
"""Items from which the expected score in the population is computed."""


@dataclass(frozen=True, eq=False)
class ClickerCrowd:
    """Annotations, who clicks (by the names of the index), a model's forecasts, and its true expected log score."""

    annotations: pt.Annotations
    clicks: np.ndarray
    predictions: pt.Predictions
    expected: float


def clicker_crowd(random: np.random.Generator, share: float) -> ClickerCrowd:
    """So many of the annotators click; half of the crowds have clickers with habits, half who click evenly."""
    alpha = random.uniform(0.4, 1.2) * N_LABELS * random.dirichlet(np.full(N_LABELS, 4.0))
    clicks = np.zeros(N_ANNOTATORS, bool)
    clicks[random.permutation(N_ANNOTATORS)[: round(share * N_ANNOTATORS)]] = True
    even = random.random() < 0.5
    habit = (
        np.full((N_ANNOTATORS, N_LABELS), 1 / N_LABELS) if even else random.dirichlet(np.ones(N_LABELS), N_ANNOTATORS)
    )
    opinions = random.dirichlet(alpha, N_ITEMS)
    who = np.argsort(random.random((N_ITEMS, N_ANNOTATORS)), 1)[:, :PER_ITEM].reshape(-1)
    item = np.repeat(np.arange(N_ITEMS), PER_ITEM)
    answers = np.where(clicks[who][:, None], habit[who], opinions[item])
    label = (random.random((len(item), 1)) >= np.cumsum(answers, 1)).sum(1).clip(max=N_LABELS - 1)
    rows = {"item": item, "annotator": who, "label": label}
    annotations = pt.Annotations.from_long(rows, labels=range(N_LABELS))
    named = np.array([clicks[int(name)] for name in annotations.index.annotators])
    forecasts = _forecasts(random, opinions)
    predictions = pt.Predictions.from_probs({"model": forecasts}, items=range(N_ITEMS), labels=range(N_LABELS))
    there = random.dirichlet(alpha, NEW_ITEMS)
    expected = -(there * np.log(_forecasts(random, there))).sum(1).mean()
    return ClickerCrowd(annotations, named, predictions, float(expected))


def _forecasts(random: np.random.Generator, opinions: np.ndarray) -> np.ndarray:
    return 0.7 * opinions + 0.3 * random.dirichlet(np.ones(N_LABELS), len(opinions))


def judged(crowd: ClickerCrowd, seed: int) -> dict[str, float]:
    """Whether the intervals hold the true share of clicks, overall and by annotator, and the true expected score."""
    truth = pt.infer_truth(crowd.annotations, "clicker-mixture", draws=0, seed=seed, sweeps=SWEEPS)
    table, figures = truth.annotators(), truth.diagnostics
    often = table["n_annotations"].to_numpy()
    true_share = float(crowd.clicks @ often / often.sum())
    low, high = (table[f"clicked_{end}"].to_numpy() for end in ("low", "high"))
    flagged = table["flag"].to_numpy() == "clicker"
    answered = np.flatnonzero(truth.n_votes > 0)
    attentive = pt.evaluate(truth.of_items(answered), crowd.predictions, engine="exact").comparison.ranks[0]
    naive = pt.evaluate(crowd.annotations, crowd.predictions, engine="exact").comparison.ranks[0]
    return {
        "true": true_share,
        "estimate": float(figures["clicked"]),
        "share covered": float(figures["clicked_low"] <= true_share <= figures["clicked_high"]),
        "annotators covered": float(((low <= crowd.clicks) & (crowd.clicks <= high)).mean()),
        "flagged": float(flagged[crowd.clicks].mean()) if crowd.clicks.any() else np.nan,
        "falsely flagged": float(flagged[~crowd.clicks].mean()),
        "score covered": float(attentive["low"] <= crowd.expected <= attentive["high"]),
        "bias": float(attentive["score"]) - crowd.expected,
        "covered by all votes": float(naive["low"] <= crowd.expected <= naive["high"]),
        "bias of all votes": float(naive["score"]) - crowd.expected,
    }


def study(share: float, replicates: int) -> dict[str, float]:
    """Means over so many crowds."""
    seeds = [[zlib.crc32(b"clickers"), round(100 * share), replicate] for replicate in range(replicates)]
    rows = [judged(clicker_crowd(np.random.default_rng(seed), share), seed[2]) for seed in seeds]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def main() -> None:
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    for row, share in enumerate(SHARES):
        means = study(share, replicates)
        if row == 0:
            print("| clickers | " + " | ".join(means) + " |\n|---" * 1 + "|---" * len(means) + "|")
        print(
            f"| {share:.0%} | " + " | ".join("-" if np.isnan(v) else f"{v:.3f}" for v in means.values()) + " |",
            flush=True,
        )


if __name__ == "__main__":
    main()
