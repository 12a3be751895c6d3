"""Votes: does the interval of P(A preferred) hold it, and do halves of prompts and of annotators agree (ten minutes)?

Answers differ by prompt, annotators by attention (log-normal, and some at random), ties and sides; the left answer is
ahead. The truth is that over new prompts and annotators, with sides by turns. With 40 models there are a fifth of the
data sets, by the program two fifths; halves are those of the first fifth. The program gets every time the same design,
in which no annotator votes twice on the same answers, so that it is compiled once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import jax
import numpy as np
from numpyro import handlers

import probtruth as pt
from probtruth.comparison.posterior.margin import margins
from probtruth.comparison.votes.draws import ACCEPT, data_of
from probtruth.comparison.votes.likelihood import Preference
from probtruth.comparison.votes.program import program
from probtruth.comparison.votes.votes import estimate_of_votes
from probtruth.inference.nuts import sample

RUNS = 100
MANY = 200_000  # New prompts and annotators for the truth
PAIRS = 6  # Of a data set, those of neighbours in strength and of the first and the last


@dataclass(frozen=True)
class Setting:
    models: int = 3
    prompts: int = 100
    annotators: int = 30
    votes: int = 1500
    ties: float = 0.6  # weight of a tie
    attention: float = 0.5  # sd of its logarithm
    random: float = 0.0  # share of annotators who vote at random
    side: float = 0.3
    engine: str = "auto"

    @property
    def strength(self) -> np.ndarray:
        return np.linspace(-0.6, 0.6, self.models)

    def sides(self, quality: np.ndarray, annotator: np.ndarray, toward: np.ndarray, rng: np.random.Generator) -> tuple:
        """The difference that each vote sees, and its weight of a tie."""
        n = int(annotator.max()) + 1
        attention = np.exp(self.attention * rng.standard_normal(n)) * (rng.random(n) >= self.random)
        habit = self.side + 0.3 * rng.standard_normal(n)
        ties = self.ties * np.exp(0.5 * rng.standard_normal(n))
        return attention[annotator] * quality + toward * habit[annotator], ties[annotator]

    def made(self, rng: np.random.Generator) -> pt.Votes:
        n = self.votes
        design = np.random.default_rng(0) if self.engine == "nuts" else rng
        pairs = np.array([(a, b) for a in range(self.models) for b in range(self.models) if a != b])
        shape = (self.prompts, len(pairs), self.annotators)
        cell = design.choice(np.prod(shape), n, replace=self.engine != "nuts")
        item, pair, annotator = np.unravel_index(cell, shape)
        left, right = pairs[pair].T
        quality = self.strength[:, None] + 0.5 * rng.standard_normal((self.models, self.prompts))
        d, ties = self.sides(quality[left, item] - quality[right, item], annotator, np.ones(n), rng)
        logits = np.stack([d / 2, np.log(np.maximum(ties, 1e-12)), -d / 2])
        outcome = 1 - (logits + rng.gumbel(size=logits.shape)).argmax(0)
        names = [
            tuple(f"{kind}{at:04d}" for at in range(many)) for kind, many in (("m", self.models), ("p", self.prompts))
        ]
        annotators = tuple(f"u{at:04d}" for at in range(self.annotators))
        return pt.Votes(item, left, right, outcome, *names, annotator, annotators)

    def true(self, a: int, b: int) -> float:
        rng = np.random.default_rng(0)
        quality = self.strength[a] - self.strength[b] + 0.5 * np.sqrt(2) * rng.standard_normal(MANY)
        toward = np.where(np.arange(MANY) % 2, 1.0, -1.0)
        d, ties = self.sides(quality, np.arange(MANY), toward, rng)
        return float(Preference(ties).at(d).mean())


SETTINGS = {
    "as usual": Setting(),
    "10 prompts": Setting(prompts=10),
    "1,000 prompts": Setting(prompts=1000),
    "5 annotators": Setting(annotators=5),
    "200 annotators": Setting(annotators=200),
    "a third at random": Setting(random=0.33),
    "no ties": Setting(ties=0.0),
    "60% ties": Setting(ties=3.0),
    "left far ahead": Setting(side=1.2),
    "10 models": Setting(models=10, votes=3000),
    "40 models": Setting(models=40, votes=8000),
    "60 votes": Setting(votes=60, annotators=6, prompts=10),
    "the same, by the program": Setting(engine="nuts", votes=60, annotators=6, prompts=10),
    "300 votes": Setting(votes=300, annotators=15, prompts=30),
    "the same, by the program ": Setting(engine="nuts", votes=300, annotators=15, prompts=30),
    "300 votes, a third at random": Setting(votes=300, annotators=15, prompts=30, random=0.33),
    "the same, by the program  ": Setting(engine="nuts", votes=300, annotators=15, prompts=30, random=0.33),
}
Interval = tuple[float, float, float]  # of P(a preferred); half the width, in log-odds


def intervals(votes: pt.Votes, engine: str, pairs: list[tuple[int, int]]) -> Mapping[tuple[int, int], np.ndarray]:
    """Difference, low and high in log-odds, and low and high of the preference."""
    found: dict[tuple[int, int], np.ndarray] = {}
    if engine == "nuts":
        comparison = pt.compare(votes, engine=engine)
        for a, b in pairs:
            row = comparison.pair(votes.models[a], votes.models[b])
            found[a, b] = np.array([row.difference, row.low, row.high, row.p_a_preferred_low, row.p_a_preferred_high])
        return found
    estimate, fit, _ = estimate_of_votes(votes)
    of_rows = margins(estimate)[estimate.n_models :]
    upper = np.triu_indices(estimate.n_models, 1)
    place = {pair: at for at, pair in enumerate(zip(*(side.tolist() for side in upper), strict=True))}
    for a, b in pairs:
        margin = of_rows[place[a, b]]
        low, high = margin.interval()
        low, high = -high, -low  # of losses
        found[a, b] = np.array([-margin.centre, low, high, *fit.preference.at(np.array([low, high]))])
    return found


def half_of(votes: pt.Votes, chosen: np.ndarray) -> pt.Votes:
    columns = ("item", "left", "right", "outcome", "annotator")
    return replace(votes, **{name: getattr(votes, name)[chosen] for name in columns})


def calibration(runs: int) -> Iterator[tuple[object, ...]]:
    """How often intervals of the program hold what its own prior drew, of 60 votes."""
    setting = SETTINGS["the same, by the program"]
    data = data_of(setting.made(np.random.default_rng(0)), np.arange(setting.models))
    inside: dict[str, list[tuple[bool, bool]]] = {}
    for seed in range(runs):
        with jax.enable_x64(True):
            seeded = handlers.seed(program, jax.random.key(seed))
            drawn = handlers.trace(seeded).get_trace(**{**data, "outcome": None})
        true = {name: np.asarray(site["value"]) for name, site in drawn.items()}
        run = sample(program, {**data, "outcome": true["votes"]}, seed, draws=300, target_accept=ACCEPT)
        for name in ("strength", "log_ties", "side", "of_answers", "of_attention"):
            draws = run.sites[name].reshape(1200, -1)[:, 0]
            rank = (draws < np.atleast_1d(true[name])[0]).mean()
            inside.setdefault(name, []).append((0.25 < rank < 0.75, 0.025 < rank < 0.975))
    for name, found in inside.items():
        yield (name, runs, *[f"{share:.3f}" for share in np.mean(found, axis=0)])


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "votes-calibration", ("of the program's prior", "data sets", "inside 50% interval", "inside 95% interval")
    for row in calibration(max(2 * runs // 5, 1)):
        yield "votes-calibration", row
    yield (
        "votes",
        (
            "setting",
            "data sets",
            "coverage of P(A preferred)",
            "mean width",
            "halves of prompts agree",
            "of annotators",
        ),
    )
    for name, setting in SETTINGS.items():
        n = max(runs // (5 if setting.models == 40 else 1), 1)
        if setting.engine == "nuts":
            n = max(2 * runs // 5, 1)
        last = setting.models - 1
        pairs = [(0, last), *((a, a + 1) for a in range(0, last, max(1, last // (PAIRS - 1))))]
        true = {pair: setting.true(*pair) for pair in pairs}
        covered, widths = [], []
        agree: dict[str, list[bool]] = {"item": [], "annotator": []}
        for seed in range(n):
            rng = np.random.default_rng(seed)
            votes = setting.made(rng)
            for pair, row in intervals(votes, setting.engine, pairs).items():
                covered.append(row[3] <= true[pair] <= row[4])
                widths.append(row[4] - row[3])
            if setting.engine == "nuts" or seed >= n / 5:
                continue
            for unit, codes in (("item", votes.item), ("annotator", votes.annotator)):
                first = np.isin(codes, rng.permutation(int(codes.max()) + 1)[::2])
                one = intervals(half_of(votes, first), "auto", pairs)
                other = intervals(half_of(votes, ~first), "auto", pairs)
                for pair in pairs:
                    half = np.hypot(one[pair][2] - one[pair][1], other[pair][2] - other[pair][1]) / 2
                    agree[unit].append(abs(one[pair][0] - other[pair][0]) <= half)
        shown = [f"{np.mean(rows):.3f}" if rows else "" for rows in agree.values()]
        yield "votes", (name.strip(), n, f"{np.mean(covered):.3f}", f"{np.mean(widths):.3f}", *shown)
