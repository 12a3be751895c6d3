"""Groups of people: coverage of the headline and of each group, and whether P(two groups disagree) is calibrated.

The difference of two models on item i as annotator u, of one of two groups, has it, is m_g + a_i + b_u + e_iu: a and b
are normal of sd 0.3, e of sd 0.5, and so are the groups' means m_g with sd 0.3, but for "opposing", where they are 0.3
and -0.3. Each annotator labels the share of the 60 items in the second column, at least two; "dominant": the first one
all, the others a twentieth of the share. `people` has the coverage of the mean over new items and new annotators by
the headline, by the row of new annotators (where there is one, else the headline) and by each group; and, of eight
groups of random means, by the population of groups and by one new group. `people-disagree` has, of the data sets with
random means, the number in each range of P(disagree), its mean there, and how often the two groups disagree (8
minutes).
"""

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

import probtruth as pt
from probtruth.types.comparison import PEOPLE
from probtruth.types.score_rows import Replicates

RUNS = 60
ITEMS = 60
ANNOTATORS, FILLED, KINDS = (20, 100, 500), (0.05, 1.0), ("random", "opposing", "dominant")
EFFECT = 0.3
EDGES = (0.0, 0.02, 0.1, 0.3, 0.7, 0.9, 0.98, 1.0)


def cells(rng: np.random.Generator, means: np.ndarray, n_annotators: int, filled: float, dominant: bool) -> pt.Scores:
    """Scores by annotator, whose groups take turns."""
    share = np.full(n_annotators, filled)
    if dominant:
        share = share / 20
        share[0] = 1.0
    item, annotator = [], []
    for one, of_items in enumerate(share.tolist()):
        chosen = rng.choice(ITEMS, max(2, round(of_items * ITEMS)), replace=False)
        item.append(chosen)
        annotator.append(np.full(len(chosen), one))
    order = np.lexsort((np.concatenate(annotator), np.concatenate(item)))
    used, item = np.unique(np.concatenate(item)[order], return_inverse=True)
    annotator = np.concatenate(annotator)[order]
    effect = means[np.arange(n_annotators) % len(means)] + EFFECT * rng.standard_normal(n_annotators)
    values = effect[annotator] + EFFECT * rng.standard_normal(ITEMS)[item] + 0.5 * rng.standard_normal(len(item))
    names = tuple(f"u{one}" for one in range(n_annotators))
    by_annotator = Replicates(item, annotator, np.stack([values, np.zeros_like(values)]), names, "annotator")
    return pt.Scores(by_annotator.means(len(used)), ("a", "b"), tuple(map(str, used)), "score", replicates=by_annotator)


def compared(scores: pt.Scores, n_groups: int) -> pt.Comparison:
    groups = {name: f"g{at % n_groups}" for at, name in enumerate(scores.replicates.names)}
    return pt.compare(scores, annotator_groups=groups, engine="exact")


def holds(row: pt.types.pairs.Pair, truth: float) -> bool:
    return row.low <= truth <= row.high


def setting(place: int, n_annotators: int, filled: float, kind: str, runs: int) -> tuple[list[str], list[list[float]]]:
    """The coverage of each interval, and of random means P(disagree) with whether the two groups do."""
    rng = np.random.default_rng([11, place])
    covered, disagree = [], []
    for _ in range(runs):
        means = np.array([EFFECT, -EFFECT]) if kind == "opposing" else EFFECT * rng.standard_normal(2)
        found = compared(cells(rng, means, n_annotators, filled, kind == "dominant"), 2)
        head = found.pairs[0]
        new = found.group_results.get("new annotators", [head])[0]
        by_group = [holds(row, truth) for row, truth in zip(found.group_results[PEOPLE], means, strict=True)]
        truth = float(means.mean())
        covered.append([holds(head, truth), holds(new, truth), np.mean(by_group)])
        if kind != "random":
            continue
        disagree.append([found.decisions["group_disagreement"][0]["p_disagree"], float(means[0] * means[1] < 0)])
        several = EFFECT * rng.standard_normal(8)
        of_eight = compared(cells(rng, several, n_annotators, filled, False), 8).group_results
        (population,) = of_eight[f"population of {PEOPLE}"]
        (another,) = of_eight["one new group of annotators"]
        covered[-1] += [holds(population, 0.0), holds(another, EFFECT * rng.standard_normal())]
    return [f"{value:.3f}" for value in np.mean(covered, axis=0)], disagree


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    head = ("annotators", "filled", "means", "headline", "new annotators", "by group", "population", "new group")
    yield "people", head
    found: list[list[float]] = []
    for place, of_setting in enumerate(product(ANNOTATORS, FILLED, KINDS)):
        shares, disagree = setting(place, *of_setting, runs)
        found += disagree
        yield "people", (*of_setting, *shares, *[""] * (5 - len(shares)))
    yield "people-disagree", ("from", "to", "data sets", "mean P(disagree)", "disagree")
    chance, apart = np.array(found).T
    for low, high in pairwise(EDGES):
        inside = (chance >= low) & (chance < high if high < 1 else chance <= high)
        means = (f"{chance[inside].mean():.3f}", f"{apart[inside].mean():.3f}") if inside.any() else ("", "")
        yield "people-disagree", (low, high, int(inside.sum()), *means)
