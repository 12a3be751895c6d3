"""How wide the intervals of studies are, against the width that pilots predict: for tests and for `tests/slow`."""

from dataclasses import dataclass

import numpy as np
from coverage_study import fitted
from made_scores import make
from score_generators import GENERATORS

import probtruth as pt
from probtruth.types import RuleFacts

BY_NAME = {generator.name: generator for generator in GENERATORS}


@dataclass(frozen=True)
class Widths:
    """Mean over pilots of the predicted width, mean width of simulated studies."""

    predicted: float
    simulated: float

    @property
    def off(self) -> float:
        """The relative error."""
        return self.predicted / self.simulated - 1


def by_items(name: str, n_pilot: int, n_items: int, pilots: int, studies: int, seed: int = 0) -> Widths:
    """Pilots and studies of one of the generators of score differences (clusters of the same size in both)."""
    generator, rng = BY_NAME[name], np.random.default_rng(seed)
    size = generator.cluster_size
    predicted = []
    for row in generator.draw(rng, (pilots, n_pilot)):
        clusters = None if size == 1 else [str(item // size) for item in range(n_pilot)]
        scores = make(
            [row, np.zeros(n_pilot)], "ab", known=RuleFacts(range=(0.0, generator.reach) if generator.reach else None)
        )
        predicted.append(pt.plan(scores, n_items=n_items, clusters=clusters).designs[1]["width"])
    margins, _ = fitted(generator.draw(rng, (studies, n_items)), size, generator.reach)
    ends = np.array([margin.interval() for margin in margins])
    return Widths(float(np.mean(predicted)), float(np.ptp(ends, axis=1).mean()))


def labelled(rng: np.random.Generator, n_items: int, n_votes: int, rule: str) -> pt.Scores:
    """Two models scored against so many votes an item."""
    opinion = rng.dirichlet([0.8, 0.6, 0.4], n_items)
    votes = np.stack([rng.multinomial(n_votes, row) for row in opinion])
    probs = {name: 0.6 * opinion + 0.4 * rng.dirichlet([2, 2, 2], n_items) for name in "ab"}
    truth = pt.infer_truth(pt.Annotations.from_counts(votes), method="vote-share")
    return pt.score(pt.Predictions.from_probs(probs), truth, rule=rule)


def by_annotators(pilot: tuple[int, int], study: tuple[int, int], pilots: int, studies: int, rule: str) -> Widths:
    """Pilots of (items, votes an item) that predict studies of another."""
    rng = np.random.default_rng(1)
    predicted = [
        pt.plan(labelled(rng, *pilot, rule), n_items=study[0], n_annotators=study[1]).designs[1]["width"]
        for _ in range(pilots)
    ]
    rows = []
    for _ in range(studies):
        values = labelled(rng, *study, rule).values
        rows.append(values[0] - values[1])
    ends = np.array([margin.interval() for margin in fitted(np.array(rows), 1, 0.0)[0]])
    return Widths(float(np.mean(predicted)), float(np.ptp(ends, axis=1).mean()))


def by_clusters(n_pilot: int, n_clusters: int, size: int, pilots: int, studies: int) -> Widths:
    """Pilots of clusters of four items, correlation .3, that predict clusters of another size."""
    rng = np.random.default_rng(2)

    def draw(clusters: int, each: int) -> np.ndarray:
        shared = np.repeat(rng.standard_normal(clusters), each)
        return np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.standard_normal(clusters * each)

    predicted = []
    for _ in range(pilots):
        row = draw(n_pilot, 4)
        names = [str(item // 4) for item in range(len(row))]
        made = pt.plan(make([row, 0 * row], "ab"), clusters=names, n_clusters=n_clusters, n_items=n_clusters * size)
        predicted.append(made.designs[1]["width"])
    rows = np.stack([draw(n_clusters, size) for _ in range(studies)])
    ends = np.array([margin.interval() for margin in fitted(rows, size, 0.0)[0]])
    return Widths(float(np.mean(predicted)), float(np.ptp(ends, axis=1).mean()))


def decided(n_pilot: int, n_items: int, pilots: int, effect: float, keep: bool = False) -> tuple[float, float]:
    """The mean predicted chance to decide, and how often a study after that pilot decides; true effect N(0, effect^2).

    With a flat prior behind the plan and this one in the world, the two agree where the pilot says much more.
    """
    rng = np.random.default_rng(3)
    chance, hits = [], []
    for _ in range(pilots):
        mean = effect * rng.standard_normal()
        row = mean + rng.standard_normal(n_pilot)
        made = pt.plan(make([row, 0 * row], "ab"), n_items=n_items, keep=keep)
        chance.append(made.designs[1]["p_certain"])
        more = mean + rng.standard_normal(n_items - n_pilot * keep)
        (margin,) = fitted((np.concatenate([row, more]) if keep else more)[None], 1, 0.0)[0]
        hits.append(max(margin.below(0.0), margin.above(0.0)) > 0.95)
    return float(np.mean(chance)), float(np.mean(hits))
