"""Coverage, width and calibration of the default comparison over a bank of generators, as a table in Markdown.

    PYTHONPATH=tests/comparison python tests/slow/comparison_coverage.py

takes about ten minutes on two cores. 10,000 replications (2,000 at 1,000 items): a share of 0.95 has a standard error
of 0.002 (0.005).
"""

import numpy as np
from coverage_study import calibration, coverage
from joint_study import joint_coverage, p_best_calibration
from score_generators import GENERATORS

SIZES = {20: 10_000, 50: 10_000, 200: 10_000, 1000: 2_000}
DIGITS = "{:.3f}"


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
