"""Simulation-based calibration of the truth programs that NUTS samples (some minutes).

12 items, 4 annotators who all answer, 3 labels; ranks among 99 thinned draws, p-values of chi-squared. The last row
compares the posterior probabilities of the first item's class with its true class: the largest error of three labels,
in standard errors.
"""

from collections.abc import Iterator

import numpy as np
from simulation_calibration import FEATURES, p_values, simulations, z_values

from probtruth.truth import programs

RUNS, WARMUP, THIN = 300, 200, 5
PROGRAMS = {
    "`dawid-skene`": programs.dawid_skene,
    "`hierarchical-dawid-skene`": programs.hierarchical_dawid_skene,
}


def study(runs: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    found = [simulations(program, runs, WARMUP, THIN, seed=1) for program in PROGRAMS.values()]
    yield "truth_programs", ("ranked", *PROGRAMS)
    for feature, *row in zip(FEATURES, *(p_values(ranks) for ranks, _ in found), strict=True):
        yield "truth_programs", (feature, *(f"{p:.3f}" for p in row))
    largest = (f"{np.abs(z_values(errors)).max():.2f}" for _, errors in found)
    yield "truth_programs", ("class probabilities, largest z", *largest)
