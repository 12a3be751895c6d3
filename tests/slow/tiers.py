"""How often tiers are cut falsely, and how many there are: a table in Markdown.

    PYTHONPATH=. python tests/slow/tiers.py 300

takes about two minutes on one idle core.
"""

import sys

import numpy as np

import probtruth as pt

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
ITEMS = 100
ERROR = (2 / ITEMS) ** 0.5
"""Standard error of the difference of two models whose scores have variance 1."""

OPENING = f"""# Validity of the tiers

Written by `tests/slow/tiers.py`: {RUNS} data sets of {ITEMS} items for each row, normal scores of variance 1,
independent between models. Steps are in standard errors of a difference. A cut is false if some model above
it is not better than some model below it. Cuts are made at a joint probability of 0.975.

| models | true means | data sets with a false cut | mean number of tiers | true number |
|---|---|---|---|---|"""

WORLDS = {
    "all equal": lambda n: np.zeros(n),
    "two halves, 3 apart": lambda n: 3.0 * (np.arange(n) >= n // 2),
    "two halves, 6 apart": lambda n: 6.0 * (np.arange(n) >= n // 2),
}


def tiers_of(rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    names = [f"m{model:02d}" for model in range(len(means))]
    scores = means[:, None] * ERROR + rng.standard_normal((len(means), ITEMS))
    table = {
        "item": np.tile(np.arange(ITEMS), len(means)),
        "model": np.repeat(names, ITEMS),
        "score": scores.ravel(),
    }
    found = pt.compare(pt.Scores.from_frame(table, higher_is_better=False), engine="exact")
    tier = {str(row["model"]): row["tier"] for row in found.ranks}
    return np.array([tier[name] for name in names])


def row(world: str, n_models: int) -> str:
    rng, means = np.random.default_rng(n_models), WORLDS[world](n_models)
    found = np.array([tiers_of(rng, means) for _ in range(RUNS)])
    above = found[:, :, None] < found[:, None, :]
    false = (above & (means[:, None] >= means)).any((1, 2)).mean()
    return f"| {n_models} | {world} | {false:.3f} | {found.max(1).mean():.2f} | {len(np.unique(means))} |"


def main() -> None:
    print(OPENING)
    for world in WORLDS:
        for n_models in (2, 3, 5, 10):
            print(row(world, n_models), flush=True)


if __name__ == "__main__":
    main()
