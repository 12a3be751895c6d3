"""What a correction for skewness gains and costs, and how much of it is enough (a minute).

Rules are compared on two thirds of the kinds of differences; the rest is held out. Cells of `skewness`: mean coverage
over the kinds that the full correction covers at least 0.9 times (where the decisive outcome is mostly absent from the
sample, nothing covers); mean width as a multiple of the t's; the largest loss against the full correction in any kind.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields

import numpy as np
from coverage_study import BLOCK, GENERATORS, Generator, located, zero_one
from made_scores import Rows
from scipy.special import expit, stdtrit

from probtruth.comparison.posterior.margin import MOST_SKEWED

RUNS = 4000
SIZES = (4, 8, 20, 50, 200)
Z = np.linspace(-10, 10, 400_001)
DENSITY = np.exp(-(Z**2) / 2) / np.exp(-(Z**2) / 2).sum()

LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "log loss": lambda of_label: -np.log(of_label),
    "Brier": lambda of_label: 2 * (1 - of_label) ** 2,
}


def forecasts(rule: str, base: float, spread: float, first: float, second: float) -> Generator:
    """Two labels with log odds N(base, spread^2), which the models multiply by `first` and `second`."""
    loss = LOSSES[rule]

    def difference(odds: np.ndarray, label: np.ndarray) -> np.ndarray:
        sign = 2.0 * label - 1
        return loss(expit(sign * first * odds)) - loss(expit(sign * second * odds))

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        odds = base + spread * rng.standard_normal(shape)
        return difference(odds, rng.random(shape) < expit(odds))

    odds = base + spread * Z
    chance = (expit(-odds), expit(odds))
    mean = sum(float(DENSITY @ (chance[label] * difference(odds, np.full(len(Z), label)))) for label in (0, 1))
    return Generator(f"{rule}, two labels, {expit(base):.2f}, odds times {first:g} and {second:g}", draw, mean)


def disaster(rate: float, size: float) -> Generator:
    """Normal but for a rare loss."""
    return Generator(
        f"normal, a loss of {size:g} in {rate:.0%}",
        lambda rng, shape: np.where(rng.random(shape) < rate, size, rng.standard_normal(shape)),
        rate * size,
    )


KINDS = (
    *(one for one in GENERATORS if one.cluster_size == 1),
    Generator("log-normal, sd 0.5", lambda rng, shape: rng.lognormal(0, 0.5, shape), float(np.exp(0.125))),
    Generator("log-normal, sd 1.5", lambda rng, shape: rng.lognormal(0, 1.5, shape), float(np.exp(1.125))),
    Generator("gamma, shape 0.5", lambda rng, shape: rng.gamma(0.5, size=shape), 0.5),
    Generator("Weibull, shape 0.7", lambda rng, shape: rng.weibull(0.7, shape), 1.2658235060572833),
    Generator("Laplace", lambda rng, shape: rng.laplace(size=shape), 0.0),
    Generator("uniform", lambda rng, shape: rng.random(shape), 0.5),
    Generator("beta 0.5, 4.5", lambda rng, shape: rng.beta(0.5, 4.5, shape), 0.1),
    Generator("beta 5, 2", lambda rng, shape: rng.beta(5, 2, shape), 5 / 7),
    Generator("two exponentials", lambda rng, shape: rng.exponential(2, shape) - rng.exponential(1, shape), 1.0),
    Generator("two Poissons", lambda rng, shape: 1.0 * rng.poisson(1.5, shape) - rng.poisson(1, shape), 0.5),
    disaster(0.02, 10),
    disaster(0.05, 20),
    disaster(0.1, 5),
    Generator("90% zeros", lambda rng, shape: (rng.random(shape) > 0.9) * rng.exponential(size=shape), 0.1),
    Generator("half zeros", lambda rng, shape: (rng.random(shape) > 0.5) * rng.normal(1, 1, shape), 0.5),
    Generator("right or wrong, 30% ties", zero_one(0.3, 0.5), 0.0, reach=1.0),
    Generator("right or wrong, 80% ties", zero_one(0.8, 0.7), -0.08, reach=1.0),
    Generator("right or wrong, 90% ties", zero_one(0.9, 0.9), -0.08, reach=1.0),
    forecasts("log loss", 0, 1.5, 2, 0.7),
    forecasts("log loss", 0, 1.5, 1.2, 1),
    forecasts("log loss", -3, 1, 1.5, 1),
    forecasts("Brier", 0, 1.5, 2, 0.7),
    forecasts("Brier", -3, 1, 1.5, 0.8),
)
HELD_OUT = KINDS[2::3]


def skewness(place: Rows) -> np.ndarray:
    size = place.variance**1.5
    return np.divide(place.third, size, out=np.zeros(len(size)), where=size > 0)


def limited(place: Rows, most: np.ndarray | float) -> np.ndarray:
    return np.clip(skewness(place), -most, most)


OURS, BEFORE = f"times t at most {MOST_SKEWED} (ours)", "full, the default before"
RULES: dict[str, Callable[[Rows], np.ndarray]] = {
    "none (t)": lambda place: np.zeros(len(place.mean)),
    BEFORE: skewness,
    "n/(n + 20) of it": lambda place: skewness(place) * place.n_units / (place.n_units + 20),
    "items' at most 2": lambda place: limited(place, 2.0 / place.n_units**0.5),
    "items' at most 1.5": lambda place: limited(place, 1.5 / place.n_units**0.5),
    **{
        f"times t at most {most:g}": lambda place, most=most: limited(place, most / stdtrit(place.df, 0.975))
        for most in (0.5, 0.6, 0.8)
    },
    OURS: lambda place: np.array([margin.skewness for margin in place.margins]),
}


def ends(place: Rows, g: np.ndarray) -> np.ndarray:
    """The outer skew-t's 95% intervals."""
    t, found = stdtrit(place.df, 0.975), []
    for side in (t, -t):
        hall = 3 / np.where(g == 0, 1.0, g) * (np.cbrt(1 + g * (side - g / 6)) - 1)
        further = np.sign(side) * np.maximum(np.abs(side), np.where(np.abs(g) < 1e-9, 0.0, np.sign(side) * hall))
        found.append(place.centre - np.sqrt(place.variance) * further)
    return np.stack(found)


def cells(kind: Generator, n_items: int, seed: int, runs: int) -> dict[str, tuple[float, float]]:
    """Of every rule the coverage, and the mean width as a multiple of the t's of the same variance."""
    rng, found = np.random.default_rng([seed, n_items]), []
    step = max(1, BLOCK // n_items)
    for start in range(0, runs, step):
        each = located(kind.draw(rng, (min(step, runs - start), n_items)), 1, kind.reach)
        columns = (np.concatenate([getattr(one, field.name) for one in each]) for field in fields(Rows)[:-1])
        place = Rows(*columns, n_items)
        found.append([ends(place, rule(place)) for rule in RULES.values()])
    low, high = np.concatenate(found, axis=2).swapaxes(0, 1)
    holds, width = ((low <= kind.mean) & (kind.mean <= high)).mean(1), (high - low).mean(1)
    return {name: (float(h), float(w / width[0])) for name, h, w in zip(RULES, holds, width, strict=True)}


def study(runs: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    with np.errstate(all="raise", under="ignore"):
        found = {(kind.name, n): cells(kind, n, seed, runs) for seed, kind in enumerate(KINDS) for n in SIZES}
    yield "skewness", ("correction", "kinds", *(f"n = {n}" for n in SIZES))
    held = {kind.name for kind in HELD_OUT}
    for words, among in (("chosen on", {kind.name for kind in KINDS} - held), ("held out", held)):
        for rule in RULES:
            row = []
            for n in SIZES:
                some = [found[name, n] for name in sorted(among)]
                seen = [one[rule][0] for one in some if one[BEFORE][0] >= 0.9]
                worst = min(one[rule][0] - one[BEFORE][0] for one in some)
                row.append(f"{np.mean(seen):.3f}; {np.mean([one[rule][1] for one in some]):.3f}; {worst:+.3f}")
            yield "skewness", (rule, words, *row)
    yield "skewness-kinds", ("differences", *(f"n = {n}" for n in SIZES[2:]))
    for kind in KINDS:
        shown = [[found[kind.name, n][rule] for rule in ("none (t)", BEFORE, OURS)] for n in SIZES[2:]]
        row = [f"{' / '.join(f'{h:.3f}' for h, _ in one)} ({one[1][1]:.2f}, {one[2][1]:.2f})" for one in shown]
        yield "skewness-kinds", (kind.name, *row)
