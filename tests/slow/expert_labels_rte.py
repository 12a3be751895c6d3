"""Expert labels on a real crowd: the last table of `docs/validity/expert-labels.md`, in Markdown.

    PROBTRUTH_DATA=folder python tests/slow/expert_labels_rte.py

takes about two minutes on one core. The crowd is that of Snow et al. 2008 (recognising textual entailment: 800 items,
164 annotators, 10 votes an item, and an expert's answer); no forecasts come with it, so two models are simulated that
know the expert's answers in part. The default method infers the classes; 100 samples of 40 expert labels are drawn.
"""

import os
from pathlib import Path

import numpy as np
import polars as pl
from expert_labels import interval

import probtruth as pt
from probtruth.io.gold import ExpertAnswers
from probtruth.line.gold import with_answers
from probtruth.study.choose_gold import choose_gold

SAMPLES, ANSWERS = 100, 40


def forecasts(right: np.ndarray, shares: np.ndarray, copy: float) -> np.ndarray:
    """Probabilities of labels 0 and 1 of a sharp and a dull model; `copy` is what the dull one learned from votes."""
    rng = np.random.default_rng(1)
    signal = 1.5 * (2 * right - 1) + 1.4 * rng.standard_normal(len(right))
    noise = 0.7 * rng.standard_normal((2, len(right)))
    leans = np.stack([1.5 * signal, 0.8 * signal + copy * (2 * shares - 1)]) + noise
    yes = 1 / (1 + np.exp(-leans))
    return np.stack([1 - yes, yes], axis=-1)


def main() -> None:
    folder = Path(os.environ["PROBTRUTH_DATA"]) / "snow_rte"
    annotations = pt.read_annotations(folder / "annotations.csv")
    gold = dict(pl.read_csv(folder / "gold.csv").iter_rows())
    items, labels = annotations.index.items, annotations.index.labels
    right = np.array([gold[int(name)] for name in items])
    counts = annotations.counts()
    print("| models | experts on all | none | bounds | 40 uniform | 40 chosen |")
    print("|---|---|---|---|---|---|")
    for name, copy in (("independent of the crowd", 0.0), ("the duller learned from the votes", 1.5)):
        probs = forecasts(right, counts[:, 1] / counts.sum(1), copy)
        models = pt.Predictions.from_probs({"a": probs[0], "b": probs[1]}, items=items, labels=labels)
        result = pt.evaluate(annotations, models, estimand="class", engine="exact")
        expected = float(np.log(probs[1] / probs[0])[np.arange(len(items)), right].mean())
        plain, row = result.comparison.pairs[0], result.bounds.pairs[0]
        cells = [f"{expected:+.3f}"]
        cells.append(f"{plain['difference']:+.3f} ({plain['low']:+.3f} to {plain['high']:+.3f})")
        cells.append(f"{row['lowest']:+.3f} to {row['highest']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})")
        cells += sampled(result.scores, right, expected, labels)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def sampled(scores: pt.Scores, right: np.ndarray, expected: float, labels: tuple[str, ...]) -> list[str]:
    """Coverage and mean width with uniform and with chosen items."""
    rng = np.random.default_rng(2)
    position = {name: row for row, name in enumerate(scores.items)}
    ends: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for seed in range(SAMPLES):
        some = [scores.items[row] for row in np.sort(rng.choice(len(right), ANSWERS, replace=False)).tolist()]
        rows = choose_gold(scores, ANSWERS, seed=seed)
        chances = np.array([row["probability"] for row in rows])
        for chosen, names, chance in ((False, some, None), (True, [str(row["item"]) for row in rows], chances)):
            shares = tuple({labels[right[position[name]]]: 1.0} for name in names)
            answers = ExpertAnswers(tuple(names), shares, chance, ANSWERS)
            ends[chosen].append(interval(with_answers(scores, answers, labels)))
    cells = []
    for rows in ends.values():
        low, high = np.array(rows).T
        cells.append(f"{((low <= expected) & (expected <= high)).mean():.2f}; {(high - low).mean():.3f}")
    return cells


if __name__ == "__main__":
    main()
