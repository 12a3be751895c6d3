"""Simulated crowds whose class posterior is known: every item has one of finitely many types, every type one class.

An annotator answers by the item's type, with a table of their own. The oracle knows the tables and how frequent types
are. What makes a setting hard (prevalence, skill, strength, share of items) is drawn anew for every data set.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from crowds import assign

Random = np.random.Generator

Tables = np.ndarray  # P(label | annotator, type), by (annotator, type, label)


@dataclass(frozen=True)
class Types:
    """How frequent each type of item is, its class, and how annotators answer it."""

    shares: np.ndarray
    classes: np.ndarray
    tables: Tables


@dataclass(frozen=True)
class Simulated:
    """Votes, true classes, and the oracle's class probabilities."""

    item: np.ndarray
    annotator: np.ndarray
    label: np.ndarray
    truth: np.ndarray
    n_labels: int
    oracle: np.ndarray
    tables: Tables
    marginals: np.ndarray


@dataclass(frozen=True)
class Size:
    items: int
    annotators: int
    votes: int
    labels: int


def size_of(
    random: Random, votes: tuple[int, ...] = (1, 2, 3, 5, 7, 10, 15), labels: tuple[int, ...] = (2, 3, 4, 6, 8)
) -> Size:
    return Size(
        int(random.choice([100, 300, 600])),
        int(random.choice([20, 40])),
        int(random.choice(votes)),
        int(random.choice(labels)),
    )


def skills(random: Random, size: Size, centre: float, concentration: float = 8.0) -> Tables:
    """Every annotator's confusion: P(right) by annotator and class around `centre`, errors in their own proportions."""
    shape = size.annotators, size.labels
    right = random.beta(concentration * centre, concentration * (1 - centre), shape)
    wrong = random.gamma(1.0, 1.0, (*shape, size.labels)) * (1 - np.eye(size.labels))
    wrong /= wrong.sum(2, keepdims=True)
    return right[:, :, None] * np.eye(size.labels) + (1 - right)[:, :, None] * wrong


def even_shares(random: Random, size: Size) -> np.ndarray:
    return random.dirichlet(np.full(size.labels, 5.0))


def plain(random: Random, size: Size) -> Types:
    """Errors are independent given the class."""
    centre = random.choice([0.6, 0.75, 0.9])
    return Types(even_shares(random, size), np.arange(size.labels), skills(random, size, centre))


def alike(random: Random, size: Size) -> Types:
    """Errors are independent, and all annotators equally good."""
    right = random.choice([0.6, 0.75, 0.85, 0.95])
    table = np.full((size.labels, size.labels), (1 - right) / (size.labels - 1))
    np.fill_diagonal(table, right)
    return Types(
        np.full(size.labels, 1 / size.labels), np.arange(size.labels), np.repeat(table[None], size.annotators, 0)
    )


def two_difficulties(random: Random, size: Size) -> Types:
    """Some items are easy, the others hard; errors are spread over the labels."""
    share = random.uniform(0.2, 0.6)
    easy, hard = random.uniform(0.85, 0.97), random.uniform(0.4, 0.6)
    shares = even_shares(random, size)
    tables = [skills(random, size, centre, 20.0) for centre in (easy, hard)]
    both = np.concatenate([shares * (1 - share), shares * share])
    return Types(both, np.tile(np.arange(size.labels), 2), np.concatenate(tables, 1))


def preferring(random: Random, size: Size, target: str) -> Types:
    """A share of the annotators prefers one label: a rare one, the most frequent one, or another."""
    rate = random.choice([0.001, 0.01, 0.05, 0.1, 0.2, 0.5]) if target == "rare" else random.choice([0.5, 0.7, 0.9])
    shares = np.r_[rate, (1 - rate) * random.dirichlet(np.full(size.labels - 1, 5.0))]
    preferred = 0
    if target == "middle":
        preferred = 1
    tables = skills(random, size, random.choice([0.65, 0.8, 0.9]))
    inclined = random.random(size.annotators) < random.choice([0.1, 0.3, 0.5, 0.8])
    strength = inclined * random.uniform(0.2, 0.7)
    if random.random() < 0.5:  # always, or only where the answer would be wrong
        tables = tables * (1 - strength)[:, None, None]
        tables[:, :, preferred] += strength[:, None]
    else:
        moved = tables * strength[:, None, None]
        moved *= 1 - np.eye(size.labels)
        tables = tables - moved
        tables[:, :, preferred] += moved.sum(2)
    return Types(shares, np.arange(size.labels), tables)


def preferred_by_most(random: Random, size: Size) -> Types:
    """80% of the annotators answer the first label half of the time, whatever they see; it is true of 10%."""
    tables = skills(random, size, 0.85)
    inclined = np.arange(size.annotators) < 0.8 * size.annotators
    tables[inclined] *= 0.5
    tables[inclined, :, 0] += 0.5
    return Types(np.array([0.1, 0.9]), np.arange(2), tables)


def rare(random: Random, size: Size) -> Types:
    """One label is true of 0.1 to 20% of the items."""
    rate = random.choice([0.001, 0.01, 0.05, 0.1, 0.2])
    shares = np.r_[rate, (1 - rate) * random.dirichlet(np.full(size.labels - 1, 5.0))]
    return Types(shares, np.arange(size.labels), skills(random, size, random.choice([0.65, 0.8, 0.9])))


def shared_errors(random: Random, size: Size, fooled: tuple[float, float]) -> Types:
    """On 5 to 50% of the items a share of the annotators, drawn for each item from `fooled`, sees another label."""
    share = random.choice([0.05, 0.1, 0.2, 0.3, 0.5])
    levels = np.linspace(*fooled, 5)
    tables = skills(random, size, random.choice([0.75, 0.85, 0.95]))
    shares = even_shares(random, size)
    pairs = random.dirichlet(np.full(size.labels, 0.5), size.labels) + 0.01
    np.fill_diagonal(pairs, 0.0)
    pairs /= pairs.sum(1, keepdims=True)
    parts, classes, answers = [shares * (1 - share)], [np.arange(size.labels)], [tables]
    for level in levels:
        for seen in range(size.labels):
            parts.append(shares * pairs[:, seen] * share / len(levels))
            classes.append(np.arange(size.labels))
            answers.append((1 - level) * tables + level * tables[:, seen : seen + 1])
    return Types(np.concatenate(parts), np.concatenate(classes), np.concatenate(answers, 1))


def spammers(random: Random, size: Size) -> Types:
    """10 to 50% of the annotators answer from a habit."""
    found = plain(random, size)
    spam = random.random(size.annotators) < random.uniform(0.1, 0.5)
    habit = random.dirichlet(np.full(size.labels, 0.5), size.annotators)[:, None, :]
    return Types(found.shares, found.classes, np.where(spam[:, None, None], habit, found.tables))


PLACES = 60  # Places on a scale


def ordinal(random: Random, size: Size) -> Types:
    """Grades on one scale: annotators see an item's place with noise, and have thresholds of their own."""
    places = np.linspace(-2.6, 2.6, PLACES)
    density = np.exp(-(places**2) / 2)
    share = density / density.sum()
    cuts = np.quantile(random.choice(places, 20_000, p=share), np.arange(1, size.labels) / size.labels)
    classes = (places[:, None] > cuts).sum(1)
    noise = np.exp(random.normal(np.log(random.uniform(0.2, 0.6)), 0.4, size.annotators))
    shift = random.normal(0, random.uniform(0, 0.4))  # the crowd's shared bias
    thresholds = cuts + shift + random.normal(0, 0.25, (size.annotators, size.labels - 1))
    thresholds.sort(1)
    gaps = (thresholds[:, None, :] - places[None, :, None]) / noise[:, None, None]
    below = 1 / (1 + np.exp(-1.7 * gaps))
    ends = np.zeros((*below.shape[:2], 1)), np.ones((*below.shape[:2], 1))
    tables = np.diff(np.concatenate([ends[0], below, ends[1]], 2), axis=2)
    return Types(share, classes, tables)


def confusable(random: Random, size: Size) -> Types:
    """Labels come in pairs that are mistaken for each other, more on some items than on others."""
    tables = skills(random, size, 0.9, 20.0)
    shares = even_shares(random, size)
    partner = np.arange(size.labels) ^ 1
    partner[partner == size.labels] = 0
    levels, weights = np.array([0.0, 0.2, 0.4, 0.6, 0.8]), np.array([8.0, 4, 2, 1.5, 1])
    weights[0] = random.uniform(2, 16)
    weights /= weights.sum()
    mixed = [(1 - level) * tables + level * tables[:, partner] for level in levels]
    return Types(np.outer(weights, shares).ravel(), np.tile(np.arange(size.labels), 5), np.concatenate(mixed, 1))


def distractors(random: Random, size: Size) -> Types:
    """Right with probability sigmoid(ability - difficulty); a wrong answer is mostly the item's own distractor."""
    ability = random.normal(random.uniform(0.7, 2.0), 0.7, size.annotators)
    spread, loyal = random.uniform(0.3, 1.8), random.uniform(0.4, 1.0)
    levels = np.linspace(-2.2, 2.2, 9)
    weights = np.exp(-(levels**2) / 2)
    weights /= weights.sum()
    shares = even_shares(random, size)
    parts, classes, answers = [], [], []
    for level, weight in zip(levels, weights, strict=True):
        right = 1 / (1 + np.exp(spread * level - ability))
        for step in range(1, size.labels):
            lure = np.eye(size.labels)[(np.arange(size.labels) + step) % size.labels]
            other = (1 - np.eye(size.labels)) / (size.labels - 1)
            wrong = loyal * lure + (1 - loyal) * other
            parts.append(weight * shares / (size.labels - 1))
            classes.append(np.arange(size.labels))
            answers.append(right[:, None, None] * np.eye(size.labels) + (1 - right)[:, None, None] * wrong)
    return Types(np.concatenate(parts), np.concatenate(classes), np.concatenate(answers, 1))


def simulate(random: Random, types: Types, size: Size, copying: float = 0.0) -> Simulated:
    """Items and votes; `copying` is how often an annotator repeats the first answer of their team of three."""
    n_labels = size.labels
    kind = random.choice(len(types.shares), size.items, p=types.shares / types.shares.sum())
    item, who = assign(random, size.items, size.annotators, min(size.votes, size.annotators))
    steps = np.cumsum(types.tables[who, kind[item]], 1)
    label = (random.random((len(item), 1)) >= steps).sum(1).clip(max=n_labels - 1)
    copied = np.zeros(len(item), bool)
    first: dict[tuple[int, int], int] = {}
    if copying:
        for row, key in enumerate(zip(item.tolist(), (who // 3).tolist(), strict=True)):
            if key in first and random.random() < copying:
                label[row], copied[row] = first[key], True
            first.setdefault(key, int(label[row]))
    marginals = np.bincount(types.classes, types.shares, n_labels)
    return Simulated(
        item,
        who,
        label,
        types.classes[kind],
        n_labels,
        _oracle(types, item, who, label, copied, size),
        types.tables,
        marginals,
    )


def _oracle(
    types: Types, item: np.ndarray, who: np.ndarray, label: np.ndarray, copied: np.ndarray, size: Size
) -> np.ndarray:
    """P(class | votes), with everything known; copied answers tell nothing."""
    logs = np.log(np.maximum(types.tables, 1e-300))
    joint = np.tile(np.log(np.maximum(types.shares, 1e-300)), (size.items, 1))
    heard = ~copied
    np.add.at(joint, item[heard], logs[who[heard], :, label[heard]])
    probs = np.exp(joint - joint.max(1, keepdims=True))
    table = np.stack([probs[:, types.classes == one].sum(1) for one in range(size.labels)], 1)
    return np.asarray(table / table.sum(1, keepdims=True))


Make = Callable[[Random], Simulated]


def setting(types: Callable[[Random, Size], Types], copying: bool = False, **choices: tuple[int, ...]) -> Make:
    def make(random: Random) -> Simulated:
        size = size_of(random, **choices)
        return simulate(random, types(random, size), size, random.uniform(0.5, 0.95) if copying else 0.0)

    return make


MANY = Size(300, 20, 5, 2)

SETTINGS: Mapping[str, Make] = {
    "plain": setting(plain, votes=(1, 2, 3, 5)),
    "plain, many votes": setting(plain, votes=(7, 10, 15)),
    "plain, equal skill": setting(alike),
    "two difficulties": setting(two_difficulties),
    "a rare label": setting(rare),
    "a rare label preferred": setting(lambda random, size: preferring(random, size, "rare"), votes=(2, 3, 5, 10)),
    "a rare label preferred by most": lambda random: simulate(random, preferred_by_most(random, MANY), MANY),
    "a frequent label preferred": setting(lambda random, size: preferring(random, size, "common")),
    "a middle label preferred": setting(lambda random, size: preferring(random, size, "middle"), labels=(3, 4, 6)),
    "errors shared by half": setting(
        lambda random, size: shared_errors(random, size, (0.1, 0.9)), votes=(3, 5, 10, 15)
    ),
    "errors shared by most": setting(
        lambda random, size: shared_errors(random, size, (0.5, 0.95)), votes=(3, 5, 10, 15)
    ),
    "errors shared by all": setting(lambda random, size: shared_errors(random, size, (1.0, 1.0)), votes=(3, 5, 10, 15)),
    "spammers": setting(spammers, votes=(3, 5, 10)),
    "copiers": setting(plain, copying=True, votes=(3, 5, 10)),
    "grades": setting(ordinal, labels=(3, 4, 5, 6)),
    "confusable pairs": setting(confusable, votes=(2, 3, 5, 10)),
    "distractors": setting(distractors, votes=(2, 3, 5, 10, 15)),
}
