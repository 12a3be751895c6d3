"""What bounds on errors that annotators share say without expert labels: a table in Markdown.

    python tests/slow/shared_errors.py > docs/validity/shared-errors.md

takes about six minutes on one core: 40 replications a world of a quick method, and 10 of the default in five worlds, of
400 items each (a coverage of 0.95 has a standard error of 0.03 and of 0.07).
"""

from collections.abc import Mapping

import numpy as np
from expert_labels import ITEMS, LABELS, LARGE, WORLDS, drawn
from scipy.special import stdtrit

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.line.bounds import bounds
from probtruth.line.informed_truth import score_on_evidence
from probtruth.scoring.align import align
from probtruth.scoring.rules import get_rule
from probtruth.streaming.compare_files import ScoringOptions

EASY: Mapping[str, Mapping[str, object]] = {
    "one model blind to a class, annotators right 0.9": {"right": 0.9, "blind": True},
    "one model blind to a class, annotators right 0.97": {"right": 0.97, "blind": True},
    "one model blind to a class, 10 annotators, right 0.8": {"right": 0.8, "annotators": 10, "blind": True},
}
SKIPPED = "1 annotator of 5 an item, right 0.8"
"""One vote an item has no bounds."""
ALL = tuple(name for name in (*WORLDS, *EASY) if name != SKIPPED)
FEW = (
    "annotators and models fail on the same 35% of items",
    "on 25% of items a lure draws annotators and the sharper model",
    "one model learned from the votes",
    "5 annotators, right 0.9",
    "one model blind to a class, annotators right 0.9",
)
METHODS = {"dawid-skene-em": (40, ALL), "pooled": (10, FEW)}
"""Replications of each method, and its worlds."""


def one(votes: np.ndarray, probs: np.ndarray, method: str) -> tuple[float, ...]:
    """The ends of the plain interval, of the bounds with theirs, and of the difference itself; and the share."""
    names = [[f"{number:04d}" for number in range(size)] for size in (ITEMS, LABELS)]
    rows, annotators = np.nonzero(votes >= 0)
    columns = {"item": rows, "annotator": annotators, "label": votes[rows, annotators]}
    annotations = pt.Annotations.from_long({name: [f"{v:04d}" for v in column] for name, column in columns.items()})
    predictions = pt.Predictions.from_probs({"a": probs[0], "b": probs[1]}, items=names[0], labels=names[1])
    truth = pt.infer_truth(annotations, method=method, draws=0)
    scored = score_on_evidence(truth, align(predictions, truth), "annotators-and-models", "log", None, 0)
    comparison = compare(scored.scores, engine="exact")
    options = ScoringOptions(get_rule("log"), None, None, None, None)
    found = bounds(annotations, scored, comparison, options)
    plain, row = comparison.pairs[0], found.pairs[0]
    return plain["low"], plain["high"], row["low"], row["high"], row["lowest"], row["highest"], found.share


def held(low: np.ndarray, value: float, high: np.ndarray) -> float:
    """The share of intervals that hold a value."""
    return float(((low <= value) & (value <= high)).mean())


def study(world: Mapping[str, object], method: str, replications: int, seed: int) -> list[str]:
    """The cells of one row."""
    rng = np.random.default_rng(seed)
    truth, _, probs = drawn(rng, LARGE, **world)
    at = np.arange(LARGE), truth
    expected = float(np.log(probs[1][at] / probs[0][at]).mean())
    rows, oracle = [], []
    for _ in range(replications):
        truth, votes, probs = drawn(rng, ITEMS, **world)
        exact = np.log(probs[1] / probs[0])[np.arange(ITEMS), truth]
        oracle.append(2 * stdtrit(ITEMS - 1, 0.975) * exact.std(ddof=1) / ITEMS**0.5)
        rows.append(one(votes, probs, method))
    low, high, outer_low, outer_high, lowest, highest, share = np.array(rows).T
    unit = float(np.mean(oracle))
    claims, turned = (low > 0) | (high < 0), (lowest < 0) & (highest > 0)
    right = claims & ((low > 0) == (expected > 0))
    return [
        f"{expected:+.2f}",
        f"{share.mean():.0%}",
        f"{held(low, expected, high):.2f}; {(high - low).mean() / unit:.1f}",
        f"{held(outer_low, expected, outer_high):.2f}; {(outer_high - outer_low).mean() / unit:.1f}",
        f"{right.sum()}, {(right & turned).sum()}",
        f"{(claims & ~right).sum()}, {(claims & ~right & turned).sum()}",
    ]


OPENING = f"""# Errors that annotators share

The tables are what `tests/slow/shared_errors.py` prints: two models are compared by log loss against the true class of
each item, of which only annotators tell ({ITEMS} items of {LABELS} classes, the worlds of {{doc}}`expert-labels` and
three easy ones).

- *true*: the true difference. *share*: the mean of the largest share of items with a lure that votes leave room for.
- *plain*: coverage of the 95% interval that a comparison reports; its mean width as a multiple of that which knows all
  classes.
- *bounds*: the same of the interval around the bounds (`low` and `high`).
- *right claims*, *wrong claims*: replications in which the plain interval excludes 0 on the right side, or on the wrong
  one; and in how many of these the bounds (`lowest` to `highest`) hold 0, so that the headline says that annotators
  alone cannot decide.
"""


def main() -> None:
    print(OPENING)
    columns = ("true", "share", "plain", "bounds", "right claims, turned", "wrong claims, turned")
    for method, (replications, worlds) in METHODS.items():
        print(f"## Classes inferred by {method}, {replications} replications\n\n| world | {' | '.join(columns)} |")
        print("|---|" + "---|" * len(columns), flush=True)
        for name in worlds:
            cells = study({**WORLDS, **EASY}[name], method, replications, ALL.index(name))
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
        print()


if __name__ == "__main__":
    main()
