"""Coverage, width and calibration of the default comparison over a bank of generators, as a table in Markdown.

    PYTHONPATH=tests/comparison python tests/slow/comparison_coverage.py

takes about ten minutes on two cores. 10,000 replications (2,000 at 1,000 items): a share of 0.95 has a standard error
of 0.002 (0.005).
"""

from itertools import combinations

import numpy as np
from coverage_study import GENERATORS, calibration, coverage
from made_scores import located as located_models
from scipy import stats

from probtruth.comparison.draws import Tree, closed_form, decide
from probtruth.comparison.margin import Margin, margins

SIZES = {20: 10_000, 50: 10_000, 200: 10_000, 1000: 2_000}
DIGITS = "{:.3f}"


MODELS = 4


def losses(name: str, rng: np.random.Generator, n_items: int) -> np.ndarray:
    """Losses of four equally good models, correlated through the items."""
    shared, own = rng.standard_normal(n_items), rng.standard_normal((MODELS, n_items))
    mixed = np.sqrt(0.5) * shared + np.sqrt(0.5) * own
    return {
        "normal": lambda: mixed,
        "exponential": lambda: -np.log(stats.norm.sf(mixed)),
        "log-normal": lambda: np.exp(mixed),
        "right or wrong": lambda: (mixed > 0.7).astype(float),
    }[name]()


def joint(values: np.ndarray, draws: int, seed: int) -> tuple[np.ndarray, list[Margin]]:
    """Joint draws of the models' contrasts, and the margins of all pairs."""
    place = located_models(values, pseudo=1.0)
    found = margins(place)
    tree = Tree.of(place, len(values))
    return tree.draw(found, closed_form(tree.root, place.total_df, draws, seed), place.total_df), found


def p_best_calibration(name: str, n_items: int, replications: int, seed: int) -> tuple[float, float, float]:
    """Calibration error of P(best), the share of wrong verdicts above .95, and how many those are."""
    rng = np.random.default_rng(seed)
    unit = np.std([losses(name, rng, n_items).mean(1) @ [1, -1, 0, 0] for _ in range(500)]) / np.sqrt(2)
    said, best = [], []
    for replication in range(replications):
        truth = rng.normal(0, 2 * unit, MODELS)
        values = losses(name, rng, n_items)
        if name == "right or wrong":  # the better model loses on fewer items
            truth = np.clip(truth, -0.2, 0.2)
            change = rng.random(values.shape) < np.abs(truth)[:, None] / np.where(truth > 0, 0.758, 0.242)[:, None]
            values = np.where(change, (truth > 0)[:, None].astype(float), values)
        else:
            values = values + truth[:, None]
        said.append(decide(joint(values, 500, replication)[0])[0][:, 0])
        best.append(truth == truth.min())
    p, right = np.array(said).ravel(), np.array(best).ravel()
    place = np.minimum((p * 10).astype(int), 9)
    gap = np.abs(np.bincount(place, p, 10) - np.bincount(place, right, 10)).sum() / len(p)
    sure = p > 0.95
    return float(gap), float((~right[sure]).mean()) if sure.any() else 0.0, float(sure.sum() / replications)


def joint_coverage(name: str, n_items: int, replications: int, seed: int) -> float:
    """The largest distance of a pair's difference from its margin, averaged over data sets."""
    rng = np.random.default_rng(seed)
    worst = []
    while len(worst) < replications:
        values = losses(name, rng, n_items)
        draws, found = joint(values, 2500, 0)
        worst.append(
            max(
                stats.kstest((draws[..., a] - draws[..., b]).ravel(), np.vectorize(margin.below)).statistic
                for (a, b), margin in zip(combinations(range(MODELS), 2), found, strict=True)
            )
        )
    return float(np.mean(worst))


def number(value: float) -> str:
    return DIGITS.format(value) if value < 1 else f"{value:.2f}"


def main() -> None:
    print(OPENING)
    print("| differences | " + " | ".join(f"n = {n}" for n in SIZES) + " |")
    print("|---|" + "---|" * len(SIZES))
    for generator in GENERATORS:
        cells = []
        for n_items, replications in SIZES.items():
            ours, paired_t = coverage(generator, n_items, replications, seed=n_items)
            cells.append(f"{number(ours.holds)} / {number(paired_t.holds)} ({ours.width / paired_t.width:.2f})")
        print(f"| {generator.name} | " + " | ".join(cells) + " |", flush=True)
    print(CALIBRATION)
    print("| differences | " + " | ".join(f"n = {n}" for n in (20, 50, 200)) + " |")
    print("|---|---|---|---|")
    for generator in GENERATORS:
        if generator.reach:  # a shift of right-or-wrong scores leaves no ties
            continue
        cells = []
        for n_items in (20, 50, 200):
            error, sure, wrong = calibration(generator, n_items, 10_000, seed=n_items)
            cells.append(f"{number(error)}; {number(wrong)} of {number(sure)}")
        print(f"| {generator.name} | " + " | ".join(cells) + " |", flush=True)
    print(JOINT)
    print("| losses | n | P(best): calibration error | wrong when P(best) > 0.95 | largest gap to a margin |")
    print("|---|---|---|---|---|")
    for name in ("normal", "exponential", "log-normal", "right or wrong"):
        for n_items in (20, 50, 200):
            error, wrong, sure = p_best_calibration(name, n_items, 1000, seed=n_items)
            gap = joint_coverage(name, n_items, 50, seed=n_items)
            print(
                f"| {name} | {n_items} | {number(error)} | {number(wrong)} of {number(sure)} | {number(gap)} |",
                flush=True,
            )


OPENING = """# Validity of the comparison

Written by `tests/slow/comparison_coverage.py`. The intervals are those of the default margin, the outer skew-t,
against the paired t (cluster-robust where there are clusters).

## Coverage of the 95% interval

Ours / paired t (ours as a multiple of the t's mean width). If the true difference depends on events too rare to
appear in the sample (95% ties, zero-inflation, contamination at n = 20), no method that sees only the data can cover
it.
"""
CALIBRATION = """
## Calibration of P(a better)

True differences from N(0, (2 SE)^2). Expected calibration error over ten bins; then the share of wrong verdicts among
those with P above 0.975, and the number of such verdicts.
"""
JOINT = """
## P(best) of four models

True means from N(0, (2 SE)^2) for each model, losses correlated between models. Calibration error of P(best) over all
models and ten bins; wrong verdicts among those with P(best) above 0.95, and the number of such verdicts; the largest
distance (Kolmogorov's) of the joint draws' pairwise difference from the reported margin, averaged over data sets.
"""

if __name__ == "__main__":
    with np.errstate(all="raise", under="ignore"):
        main()
