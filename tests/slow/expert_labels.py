"""How few expert labels make a comparison under the estimand `class` right: a table in Markdown.

    python tests/slow/expert_labels.py

takes about ten minutes on one core. 100 replications of 400 items: a coverage of 0.95 has a standard error of 0.02.
With `ppi-python` installed, its interval stands beside the others; without it, that column is left out.

    python tests/slow/expert_labels.py 6 pooled

prints the table of the default method, which takes a second or more a data set: three worlds, five samples of each data
set. It stands on the same page.
"""

import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec

import numpy as np
from scipy.special import stdtrit

import probtruth as pt
from probtruth.comparison.design import design
from probtruth.comparison.evidence import of_scores
from probtruth.comparison.location import combine
from probtruth.comparison.margin import margins
from probtruth.comparison.options import checked_options
from probtruth.io.gold import ExpertAnswers
from probtruth.line.gold import with_answers
from probtruth.line.informed_truth import score_on_evidence
from probtruth.scoring.align import align
from probtruth.study.choose_gold import choose_gold

REPLICATIONS, ITEMS, LABELS = int(sys.argv[1]) if len(sys.argv) > 1 else 100, 400, 3
LARGE = 400_000
"""Items from which the true difference is taken."""
ANSWERS = (20, 40, 100)
METHOD = sys.argv[2] if len(sys.argv) > 2 else "dawid-skene-em"
RIVALS = ("gold alone", *(("ppi_py",) if find_spec("ppi_py") else ()))
OURS = ("uniform", "chosen")
WORLDS: Mapping[str, Mapping[str, object]] = {
    "3 annotators, right 0.7": {"annotators": 3},
    "5 annotators, right 0.7": {},
    "5 annotators, right 0.9": {"right": 0.9},
    "10 annotators, right 0.5": {"annotators": 10, "right": 0.5},
    "1 annotator of 5 an item, right 0.8": {"right": 0.8, "each": 1},
    "2 annotators of 20 an item, right 0.8": {"annotators": 20, "right": 0.8, "each": 2},
    "5 annotators, right 0.7, 0.4 on the same 30% of items": {"uneven": True},
    "one model blind to a class": {"blind": True},
    "one model learned from the votes": {"copy": 1.5},
    "one model repeats the votes": {"copy": 4.0},
    "annotators and models fail on the same 35% of items": {"hard": True},
    "classes of 85, 10 and 5%, annotators lean to the first": {"rare": True},
    "on 25% of items a lure draws annotators and the sharper model": {"lure": True},
    "3% of a class that annotators see in 0.3 of them, one model never": {"seen": 0.3, "right": 0.8},
    "3% of a class that annotators see in 0.6 of them, one model never": {"seen": 0.6, "right": 0.8},
}
FEW = (
    "5 annotators, right 0.7",
    "one model learned from the votes",
    "on 25% of items a lure draws annotators and the sharper model",
)
SAMPLES = 1 if METHOD == "dawid-skene-em" else 5
RARE, SELDOM = np.array([0.85, 0.1, 0.05]), np.array([0.485, 0.485, 0.03])


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def drawn(
    rng,
    n,
    annotators=5,
    right=0.7,
    each=None,
    uneven=False,
    blind=False,
    copy=0.0,
    hard=False,
    rare=False,
    lure=False,
    seen=None,
):
    """True classes, votes (item, annotator; -1 for none), and two models' probabilities."""
    shares = RARE if rare else None if seen is None else SELDOM
    truth = rng.integers(0, LABELS, n) if shares is None else rng.choice(LABELS, n, p=shares)
    chance, signal = np.full(n, right), np.full(n, 1.5)
    if uneven:
        chance = np.where(rng.random(n) < 0.3, 0.4, (right - 0.3 * 0.4) / 0.7)
    if hard:
        failing = rng.random(n) < 0.35
        chance, signal = np.where(failing, 0.45, 0.85), np.where(failing, 0.2, 2.2)
    pull = np.where(rng.random(n) < 0.25, (truth + rng.integers(1, LABELS, n)) % LABELS, -1) if lure else None
    votes = np.empty((n, annotators), np.int64)
    for one in range(annotators):
        other = (truth + rng.integers(1, LABELS, n)) % LABELS
        vote = np.where(rng.random(n) < chance, truth, other)
        if rare:
            vote = np.where((truth > 0) & (rng.random(n) < 0.45), 0, vote)
        if seen is not None:
            either = rng.integers(0, 2, n)
            vote = np.where(truth == 2, np.where(rng.random(n) < seen, 2, either), np.where(vote == 2, either, vote))
        if pull is not None:
            vote = np.where((pull >= 0) & (rng.random(n) < 0.6), pull, vote)
        votes[:, one] = vote
    if each is not None:
        votes[rng.random(votes.shape).argsort(1) >= each] = -1
    logits = signal[:, None] * np.eye(LABELS)[truth] + rng.standard_normal((n, LABELS))
    logits += 0.0 if shares is None else np.log(shares) / 1.5
    scales = (1.5, 0.8) if seen is None else (1.2, 1.2)
    sharp, dull = (scale * logits + 0.5 * rng.standard_normal(logits.shape) for scale in scales)
    if pull is not None:
        sharp = sharp + 2.0 * (pull[:, None] == np.arange(LABELS))
    if blind:
        dull[:, 1] = dull[:, 2]
    if seen is not None:
        dull[:, 2] = dull.min(1) - 5.0
    if copy:
        counts = np.stack([(votes == label).sum(1) for label in range(LABELS)], 1)
        dull = dull + copy * (counts / counts.sum(1, keepdims=True) - 1 / LABELS)
    return truth, votes, np.stack([softmax(sharp), softmax(dull)])


def scored(votes: np.ndarray, probs: np.ndarray) -> pt.Scores:
    """The losses against the inferred classes, models' forecasts among the evidence."""
    items, labels = ([f"{number:04d}" for number in range(size)] for size in (len(votes), LABELS))
    rows, annotators = np.nonzero(votes >= 0)
    columns = {"item": rows, "annotator": annotators, "label": votes[rows, annotators]}
    annotations = pt.Annotations.from_long({name: [f"{v:04d}" for v in column] for name, column in columns.items()})
    predictions = pt.Predictions.from_probs({"a": probs[0], "b": probs[1]}, items=items, labels=labels)
    truth = pt.infer_truth(annotations, method=METHOD, draws=0)
    return score_on_evidence(truth, align(predictions, truth), "annotators-and-models", "log", None, 0).scores


def interval(scores: pt.Scores) -> tuple[float, float]:
    """The reported interval of a minus b."""
    plan = design(scores, None, None, None)
    evidence = of_scores(scores, plan, checked_options("nuts", "new-items", None, 1, 0, False))
    low, high = margins(combine(evidence.rows, plan.weights))[-1].interval()
    return (low, high) if evidence.order[0] == 0 else (-high, -low)


def intervals(scores: pt.Scores, truth: np.ndarray, n: int, rng: np.random.Generator) -> Iterator[tuple[float, float]]:
    """Of the rivals, then of ours, on one sample of n items; chosen ones on their own."""
    label_values = scores.labels.losses
    known, expert = scores.values[0] - scores.values[1], (label_values[0] - label_values[1])[np.arange(ITEMS), truth]
    sample = np.sort(rng.choice(ITEMS, n, replace=False))
    half = stdtrit(n - 1, 0.975) * expert[sample].std(ddof=1) / n**0.5
    yield expert[sample].mean() - half, expert[sample].mean() + half
    if "ppi_py" in RIVALS:
        from ppi_py import ppi_mean_ci

        low, high = ppi_mean_ci(expert[sample], known[sample], np.delete(known, sample), alpha=0.05)
        yield float(np.squeeze(low)), float(np.squeeze(high))
    names = [scores.items[row] for row in sample.tolist()]
    chosen = choose_gold(scores, n, seed=int(rng.integers(2**31)))
    place = {name: row for row, name in enumerate(scores.items)}
    probability = np.array([row["probability"] for row in chosen])
    for items, chance in ((names, None), ([str(row["item"]) for row in chosen], probability)):
        shares = tuple({f"{truth[place[name]]:04d}": 1.0} for name in items)
        labels = [f"{label:04d}" for label in range(LABELS)]
        yield interval(with_answers(scores, ExpertAnswers(tuple(items), shares, chance, n), labels))


def study(world: Mapping[str, object], seed: int) -> Iterator[list[str]]:
    """For each number of answers the cells: coverage and width as a multiple of that of all answers known."""
    rng = np.random.default_rng(seed)
    truth, _, probs = drawn(rng, LARGE, **world)
    at = np.arange(LARGE), truth
    expected = float(np.log(probs[1][at] / probs[0][at]).mean())
    found: dict[int, list[list[tuple[float, float]]]] = {n: [] for n in ANSWERS}
    oracle, without = [], []
    for _ in range(REPLICATIONS):
        truth, votes, probs = drawn(rng, ITEMS, **world)
        scores = scored(votes, probs)
        exact = np.log(probs[1] / probs[0])[np.arange(ITEMS), truth]
        oracle.append(2 * stdtrit(ITEMS - 1, 0.975) * exact.std(ddof=1) / ITEMS**0.5)
        without.append(interval(scores))
        for n in ANSWERS:
            found[n] += [list(intervals(scores, truth, n, rng)) for _ in range(SAMPLES)]
    unit = float(np.mean(oracle))
    for n in ANSWERS:
        ends = np.array([np.repeat(without, SAMPLES, axis=0), *np.array(found[n]).transpose(1, 0, 2)])
        covers = ((ends[..., 0] <= expected) & (expected <= ends[..., 1])).mean(1)
        widths = (ends[..., 1] - ends[..., 0]).mean(1) / unit
        yield [f"{share:.2f}; {width:.2f}" for share, width in zip(covers, widths, strict=True)]


OPENING = f"""# A few expert labels

The tables are what `tests/slow/expert_labels.py` prints: two models are compared by log loss against the true class of
each item, which experts tell on 20, 40 or 100 of {ITEMS} items ({REPLICATIONS} replications a world). Entries: coverage
of the 95% interval; its mean width as a multiple of that of all {ITEMS} expert labels.

- *none*: no expert labels, the classes inferred by {METHOD} with the models' forecasts as evidence.
- *gold alone*: the t interval of a uniform sample's expert labels.
- *ppi_py*: PPI++ of the package `ppi-python` on the same sample, with the inferred scores as its predictions.
- *uniform*: `evaluate(..., gold=...)` with the same sample.
- *chosen*: the same with items and probabilities of `plan --gold`.

The classes are inferred by a method that is too sure of itself, which is hard on every column but *gold alone*.
"""


def main() -> None:
    rows: dict[int, list[str]] = {n: [] for n in ANSWERS}
    for number, (name, world) in enumerate(WORLDS.items()):
        if SAMPLES > 1 and name not in FEW:
            continue
        for n, cells in zip(ANSWERS, study(world, number), strict=True):
            rows[n].append(f"| {name} | " + " | ".join(cells) + " |")
        print(name, file=sys.stderr, flush=True)
    print(OPENING)
    columns = ("none", *RIVALS, *OURS)
    for n in ANSWERS:
        print(f"## {n} expert labels\n\n| world | " + " | ".join(columns) + " |")
        print("|---|" + "---|" * len(columns))
        print("\n".join(rows[n]) + "\n")


if __name__ == "__main__":
    main()
