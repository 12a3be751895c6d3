"""Spend a labelling budget well: from a pilot of 300 items, how many items and how many annotators an item?

This compares two classifiers of rude comments by Brier score against people's answers. An item costs 1 to find and
clean, an annotation 0.4. `plan` says what each design would show. The script then simulates the best design within the
budget many times: what pilots promise is right on average, but a single small pilot is uncertain.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import probtruth as pt

PILOT, VOTES = 300, 3
COSTS = {"item": 1.0, "annotation": 0.4}
BUDGET = 1000.0
SMALLEST = -0.01
"""The smallest difference that matters; negative favours the new classifier, the first by name."""
DESIGNS = (1, 2, 3, 5, 8)
"""Numbers of annotators an item to consider."""
PILOTS, STUDIES = 20, 60


def collect(n_items: int, n_annotators: int, seed: int) -> pt.Scores:
    """A simulated study: people's opinions of each item, a sample of their votes, and two classifiers' forecasts."""
    random = np.random.default_rng(seed)
    opinion = random.beta(0.7, 0.9, n_items)
    rude = random.binomial(n_annotators, opinion)
    logit = np.log((opinion + 0.02) / (1.02 - opinion))
    forecasts = {
        "new": 1 / (1 + np.exp(-(0.80 * logit + random.normal(0, 0.50, n_items)))),
        "old": 1 / (1 + np.exp(-(0.75 * logit + random.normal(0, 0.60, n_items)))),
    }
    predictions = pt.Predictions.from_probs({name: np.stack([1 - p, p], 1) for name, p in forecasts.items()})
    votes = pt.Annotations.from_counts(np.stack([n_annotators - rude, rude], 1))
    return pt.score(predictions, pt.infer_truth(votes, method="vote-share"), rule="brier")


def affordable(n_annotators: int) -> int:
    """Items that the budget buys with this many annotators each."""
    return int(BUDGET / (COSTS["item"] + n_annotators * COSTS["annotation"]))


def study_of(pilot: pt.Scores, n_annotators: int) -> Mapping[str, object]:
    """What a study with this many annotators an item would show, predicted from the pilot, for the whole budget."""
    size = {"n_items": affordable(n_annotators), "n_annotators": n_annotators}
    made = pt.plan(pilot, difference=SMALLEST, costs=COSTS, **size)
    return next(row for row in made.designs if row["design"] == "study")


def width(scores: pt.Scores) -> float:
    row = pt.compare(scores, engine="exact").pairwise().row(0, named=True)
    return float(row["high"] - row["low"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the figure")
    out = parser.parse_args().out

    pilot = collect(PILOT, VOTES, seed=0)
    pair = pt.compare(pilot, engine="exact").pairwise().row(0, named=True)
    print(f"pilot: {PILOT} items, {VOTES} votes each: new minus old {pair['difference']:+.3f}", end="")
    print(f" ({pair['low']:+.3f} to {pair['high']:+.3f}), P(new better) = {pair['p_a_better']:.2f}")

    print(f"a budget of {BUDGET:.0f} buys:")
    plans = {}
    for annotators in DESIGNS:
        study = plans[annotators] = study_of(pilot, annotators)
        print(
            f"  {study['n_items']:>5.0f} items with {annotators} votes: interval {study['width']:.3f} wide, "
            f"P(study decides, if the difference is {SMALLEST}) = {study['p_certain']:.2f}"
        )
    best = min(plans, key=lambda annotators: plans[annotators]["width"])
    print(f"best use of the budget: {best} votes an item")

    pilots = [study_of(collect(PILOT, VOTES, seed), best)["width"] for seed in range(1000, 1000 + PILOTS)]
    studies = [width(collect(affordable(best), best, seed)) for seed in range(1, 1 + STUDIES)]
    print(f"{PILOTS} pilots like this one promise {min(pilots):.3f} to {max(pilots):.3f}, mean {np.mean(pilots):.3f};")
    print(f"{STUDIES} such studies have intervals of mean width {np.mean(studies):.3f}")

    plan = pt.plan(pilot, difference=SMALLEST, costs=COSTS)
    cheapest = next(row for row in plan.designs if row["design"] == "cheapest")
    print(
        f"cheapest study that decides four times in five: {cheapest['n_items']:.0f} items, "
        f"{cheapest['n_annotators']:.0f} votes each, cost {cheapest['cost']:.0f}"
    )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        pt.figures.plot_plan(plan).figure.savefig(out / "plan.svg")
        print(f"figure: {out / 'plan.svg'}")


if __name__ == "__main__":
    main()
