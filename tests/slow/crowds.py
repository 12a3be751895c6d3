"""Simulated crowds of many kinds, each with its own way of being wrong together; none is a model of the package.

Every function takes a generator and gives (item, annotator, label, truth, n_labels). What is hard about a crowd (noise,
skill, share of spammers, ...) is drawn anew each time, so that constants are not tuned to one level of difficulty.
"""

from collections.abc import Callable, Mapping

import numpy as np

import probtruth as pt
from probtruth.types.index import Index

FLOOR = 1e-15  # Probabilities of the true class below this enter the mean log loss as this
Crowd = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]
Random = np.random.Generator


def annotations_of(crowd: Crowd) -> pt.Annotations:
    item, annotator, label, truth, n_labels = crowd
    sizes = (len(truth), n_labels, -(-int(annotator.max() + 1) // 20) * 20)  # few shapes, few compilations
    index = Index(*(tuple(map(str, range(size))) for size in sizes))
    flat = (part.astype(np.int64) for part in (item, label, annotator))
    return pt.Annotations(*flat, np.ones(len(item), np.int64), index)


def log_loss(probs: np.ndarray, truth: np.ndarray) -> float:
    """Mean log loss of the true class, probabilities of at least FLOOR."""
    return float(-np.log(np.maximum(probs[np.arange(len(truth)), truth], FLOOR)).mean())


def assign(random: Random, n_items: int, n_annotators: int, per_item: int) -> tuple[np.ndarray, np.ndarray]:
    """Which annotators answer which items: `per_item` different ones each, a few much busier than most."""
    busy = random.normal(0, random.uniform(0.5, 1.8), n_annotators)
    keys = random.gumbel(size=(n_items, n_annotators)) + busy
    chosen = np.argsort(-keys, axis=1)[:, :per_item]
    return np.repeat(np.arange(n_items), per_item), chosen.reshape(-1)


def marginals(random: Random, n_labels: int, evenness: float = 5.0) -> np.ndarray:
    return random.dirichlet(np.full(n_labels, evenness))


def independent(random: Random, n_items: int, n_annotators: int, per_item: int, n_labels: int) -> Crowd:
    """Errors independent given the class: confusion rows of their own for every annotator."""
    truth = random.choice(n_labels, n_items, p=marginals(random, n_labels))
    centre = random.uniform(0.55, 0.85)
    skill = random.beta(8 * centre, 8 * (1 - centre), (n_annotators, n_labels))
    wrong = random.dirichlet(np.full(n_labels, 0.7), (n_annotators, n_labels))
    confusion = skill[:, :, None] * np.eye(n_labels) + (1 - skill)[:, :, None] * wrong
    item, annotator = assign(random, n_items, n_annotators, per_item)
    steps = np.cumsum(confusion[annotator, truth[item]], axis=1)
    label = (random.random((len(item), 1)) >= steps).sum(1).clip(max=n_labels - 1)
    return item, annotator, label, truth, n_labels


def spammers(random: Random, n_items: int, n_annotators: int, per_item: int, n_labels: int) -> Crowd:
    """As `independent`, but a third or more answer from a habit, or always the same."""
    item, annotator, label, truth, _ = independent(random, n_items, n_annotators, per_item, n_labels)
    spam = random.random(n_annotators) < random.uniform(0.25, 0.5)
    habit = random.dirichlet(np.full(n_labels, 0.5), n_annotators)
    guess = (random.random((len(item), 1)) >= np.cumsum(habit[annotator], axis=1)).sum(1).clip(max=n_labels - 1)
    return item, annotator, np.where(spam[annotator], guess, label), truth, n_labels


def distractors(random: Random, n_items: int, n_annotators: int, per_item: int, n_labels: int) -> Crowd:
    """Right with probability sigmoid(ability - difficulty); a wrong answer is mostly the item's own distractor."""
    truth = random.choice(n_labels, n_items, p=marginals(random, n_labels))
    ability = random.normal(random.uniform(0.7, 2.0), 0.7, n_annotators)
    difficulty = random.normal(0, random.uniform(0.3, 1.8), n_items)
    lure = (truth + random.integers(1, n_labels, n_items)) % n_labels
    loyal = random.uniform(0.4, 1.0)
    item, annotator = assign(random, n_items, n_annotators, per_item)
    right = random.random(len(item)) < 1 / (1 + np.exp(difficulty[item] - ability[annotator]))
    other = (truth[item] + random.integers(1, n_labels, len(item))) % n_labels
    wrong = np.where(random.random(len(item)) < loyal, lure[item], other)
    return item, annotator, np.where(right, truth[item], wrong), truth, n_labels


def positions(
    random: Random,
    n_items: int,
    n_annotators: int,
    per_item: int,
    n_labels: int,
    evenness: float = 5.0,
    wrong: tuple[float, float] = (0.01, 0.25),
) -> Crowd:
    """Items lie near their class's point in space; annotators see them with noise and shifted borders.

    An item that lies nearer to another class's point is misread by most. The share of such items is drawn from `wrong`.
    """
    truth = random.choice(n_labels, n_items, p=marginals(random, n_labels, evenness))
    dims = min(n_labels - 1, 4)
    points = random.normal(size=(n_labels, dims))
    points /= np.maximum(
        np.sqrt(((points[:, None] - points[None]) ** 2).sum(2)[~np.eye(n_labels, dtype=bool)]).min(), 0.3
    )
    target = random.uniform(*wrong)
    direction = random.normal(size=(n_items, dims))
    low, high = 0.0, 4.0
    for _ in range(30):
        spread = (low + high) / 2
        missed = (nearest(points[truth] + spread * direction, points) != truth).mean()
        low, high = (spread, high) if missed < target else (low, spread)
    place = points[truth] + spread * direction
    noise = np.exp(random.normal(np.log(random.uniform(0.2, 0.8)), 0.5, n_annotators))
    shift = random.normal(0, 0.1, (n_annotators, n_labels, dims))
    item, annotator = assign(random, n_items, n_annotators, per_item)
    seen = place[item] + noise[annotator, None] * random.normal(size=(len(item), dims))
    gaps = ((seen[:, None] - points - shift[annotator]) ** 2).sum(2)
    return item, annotator, gaps.argmin(1), truth, n_labels


def nearest(place: np.ndarray, points: np.ndarray) -> np.ndarray:
    return np.asarray(((place[:, None] - points) ** 2).sum(2).argmin(1))


def copies(random: Random, n_items: int, n_annotators: int, per_item: int, n_labels: int) -> Crowd:
    """Annotators in teams of three, who mostly repeat their team's first answer."""
    item, annotator, label, truth, _ = positions(random, n_items, n_annotators, per_item, n_labels)
    team = annotator // 3
    faithful = random.uniform(0.5, 0.95)
    first: dict[tuple[int, int], int] = {}
    out = label.copy()
    for row, key in enumerate(zip(item.tolist(), team.tolist(), strict=True)):
        if key in first and random.random() < faithful:
            out[row] = first[key]
        first.setdefault(key, int(out[row]))
    return item, annotator, out, truth, n_labels


def rare(random: Random, n_items: int, n_annotators: int, per_item: int, n_labels: int) -> Crowd:
    """One class is common, the others are rare."""
    return positions(random, n_items, n_annotators, per_item, n_labels, evenness=0.6, wrong=(0.01, 0.1))


def ordinal(random: Random, n_items: int, n_annotators: int, per_item: int, n_labels: int) -> Crowd:
    """Grades on one scale: annotators see the item's place with noise and cut the scale at their own thresholds."""
    scale = random.normal(0, 1, n_items)
    cuts = np.quantile(scale, np.arange(1, n_labels) / n_labels)
    truth = (scale[:, None] > cuts).sum(1)
    shared = scale + random.uniform(0.0, 0.5) * random.normal(size=n_items)
    noise = np.exp(random.normal(np.log(random.uniform(0.2, 0.6)), 0.4, n_annotators))
    own = cuts + random.normal(0, 0.25, (n_annotators, n_labels - 1))
    item, annotator = assign(random, n_items, n_annotators, per_item)
    seen = shared[item] + noise[annotator] * random.normal(size=len(item))
    return item, annotator, (seen[:, None] > own[annotator]).sum(1), truth, n_labels


def lopsided(random: Random, n_items: int, n_annotators: int, per_item: int, n_labels: int) -> Crowd:
    """Two labels, the second true of one item in three to ten; annotators lean to yes or no, and some hardly look."""
    truth = (random.random(n_items) < random.uniform(0.1, 0.35)).astype(int)
    clarity = random.normal(random.uniform(1.2, 2.5), random.uniform(0.4, 1.5), n_items) * (2 * truth - 1)
    lean = random.normal(random.normal(0, 0.4), 0.6, n_annotators)
    care = np.where(random.random(n_annotators) < random.uniform(0, 0.3), 0.15, np.exp(random.normal(0, 0.3)))
    item, annotator = assign(random, n_items, n_annotators, per_item)
    yes = random.random(len(item)) < 1 / (1 + np.exp(-(care[annotator] * clarity[item] + lean[annotator])))
    return item, annotator, yes.astype(int), truth, n_labels


def hard(random: Random, n_items: int, n_annotators: int, per_item: int, n_labels: int) -> Crowd:
    """Judgements on which most people are often wrong: a fifth to two fifths of the items look like another class."""
    return positions(random, n_items, n_annotators, per_item, n_labels, wrong=(0.2, 0.4))


CROWDS: Mapping[str, Callable[[Random], Crowd]] = {
    "independent": lambda random: independent(random, 300, 40, 5, 3),
    "independent, 2 labels": lambda random: independent(random, 300, 30, 7, 2),
    "spammers": lambda random: spammers(random, 300, 40, 5, 4),
    "distractors": lambda random: distractors(random, 300, 30, 8, 4),
    "distractors, 2 labels": lambda random: distractors(random, 400, 80, 10, 2),
    "positions": lambda random: positions(random, 300, 30, 8, 3),
    "positions, 2 labels": lambda random: positions(random, 400, 80, 10, 2),
    "positions, few answers each": lambda random: positions(random, 500, 120, 5, 5),
    "positions, 3 an item": lambda random: positions(random, 600, 50, 3, 2, 2.0),
    "copies": lambda random: copies(random, 300, 21, 7, 3),
    "rare classes": lambda random: rare(random, 500, 50, 5, 4),
    "10 classes": lambda random: positions(random, 400, 40, 6, 10),
    "2 an item": lambda random: positions(random, 600, 30, 2, 3),
    "600 an item": lambda random: positions(random, 12, 600, 600, 3),
    "everybody answers everything": lambda random: positions(random, 108, 39, 39, 2),
    "grades": lambda random: ordinal(random, 400, 40, 6, 4),
    "many annotators, 2 labels, 10 an item": lambda random: distractors(random, 500, 164, 10, 2),
    "yes or no, 3 an item": lambda random: lopsided(random, 1200, 176, 3, 2),
    "yes or no, 6 an item": lambda random: lopsided(random, 800, 75, 6, 2),
    "yes or no, 20 an item": lambda random: lopsided(random, 250, 140, 20, 2),
    "hard, 9 an item": lambda random: hard(random, 400, 27, 9, 4),
    "hard, 10 an item": lambda random: hard(random, 400, 100, 10, 4),
    "grades, many annotators": lambda random: ordinal(random, 800, 170, 6, 5),
    "grades, 8 an item, long tail": lambda random: ordinal(random, 500, 260, 8, 4),
    "10 classes, 4 an item": lambda random: distractors(random, 700, 44, 4, 10),
}  # The crowds of the study by name
