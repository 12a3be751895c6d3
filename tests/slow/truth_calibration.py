"""Simulation-based calibration of the sampled truth programs, as a table in Markdown.

    PYTHONPATH=tests/truth python tests/slow/truth_calibration.py 300

takes some minutes with 300 simulations.
"""

import sys

import numpy as np
from simulation_calibration import BINS, FEATURES, p_values, simulations, z_values

from probtruth.truth import programs

PROGRAMS = {
    "dawid-skene": programs.dawid_skene,
    "hierarchical-dawid-skene": programs.hierarchical_dawid_skene,
}
WARMUP, THIN = 200, 5


def main(many: int) -> None:
    p, z = {}, {}
    for name, program in PROGRAMS.items():
        print(name, file=sys.stderr, flush=True)
        ranks, errors = simulations(program, many, WARMUP, THIN, seed=1)
        p[name], z[name] = p_values(ranks), z_values(errors)
    table = np.array(list(p.values()))
    print(OPENING.format(many=many, bins=BINS))
    print("| ranked | " + " | ".join(f"`{name}`" for name in p) + " |")
    print("|---|" + "---|" * len(p))
    for feature, row in zip(FEATURES, table.T, strict=True):
        print(f"| {feature} | " + " | ".join(f"{value:.3f}" for value in row) + " |")
    print("| class probabilities, largest z | " + " | ".join(f"{np.abs(row).max():.2f}" for row in z.values()) + " |")
    print(CLOSING.format(least=f"{table.min():.3f}", many=table.size, bound=f"{0.05 / table.size:.4f}"))


OPENING = """# Validity of the truth programs

Written by `tests/slow/truth_calibration.py`. Simulation-based calibration (Talts et al. 2018,
doi:10.48550/arXiv.1804.06788): parameters are drawn from a program's prior, classes and answers from the parameters
(12 items, 4 annotators who all answer, 3 labels), and we note the rank of the true parameter among 99 thinned draws
of the posterior. If the sampler draws from the posterior of that program, the ranks are uniform. {many} simulations;
p-values of chi-squared over {bins} bins. The last row compares the posterior probabilities of the first item's class
with its true class: the mean error over its standard error, the largest of three labels.
"""

CLOSING = """
The smallest of the {many} p-values is {least}. If they were independent, one table of this size in twenty would have
one below {bound}.

This shows that the numbers come from the model, not that the model is right: if annotators err together on hard
items, `dawid-skene` and `hierarchical-dawid-skene` are too sure whatever the sampler does."""

if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
