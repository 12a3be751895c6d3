"""Whether P(best) means what it says, and how near joint draws come to the margins of all pairs."""

from itertools import combinations

import numpy as np
from made_scores import located
from scipy import stats

from probtruth.comparison.estimation.estimate import Part
from probtruth.comparison.posterior.margin import Margin
from probtruth.comparison.posterior.posterior import Tree, closed_form, decide, total_df

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


def joint(values: np.ndarray, draws: int, seed: int, pooled: bool = False) -> tuple[np.ndarray, list[Margin]]:
    """Joint draws of the models' contrasts, pooled or not, and the margins of all pairs."""
    place = located(values, pseudo=1.0)
    found = place.margins
    df = total_df(Part(place.variance, place.third, place.df))
    tree = Tree.of(found, len(values), df)
    steps = tree.draw(found, closed_form(tree.root, df, draws, seed), df)
    if pooled:
        steps = tree.pooled(steps, seed)
    return tree.means(steps), found


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
        said.append(decide(joint(values, 500, replication, pooled=True)[0])[0][:, 0])
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
