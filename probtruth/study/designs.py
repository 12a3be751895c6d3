"""Designs of a study: what each would show and cost, and the cheapest that shows enough."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import gammaln, ndtr, stdtr, stdtrit

from probtruth.study.pilot import Pilot
from probtruth.study.studies import Study

Row = Mapping[str, object]
TRIED = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100)
"""Numbers of annotators, replicates and items of a cluster that the search for the cheapest design tries."""
MOST = 10**8
"""The largest number of items of a design."""
RESOURCES = ("item", "annotation", "cluster", "replicate")
COLUMNS = (
    "design",
    "n_items",
    "n_annotators",
    "n_clusters",
    "n_replicates",
    "width",
    "p_certain",
    "p_a",
    "p_b",
    "cost",
)


@dataclass(frozen=True, eq=False)
class Aim:
    """How designs are judged."""

    pilot: Pilot
    certainty: float
    power: float
    width: float | None
    costs: Mapping[str, float] | None
    difference: float | None
    keep: bool

    def expected_width(self, study: Study) -> float:
        """The expected width of the 95% interval."""
        half = self.pilot.df / 2
        bias = math.exp(gammaln(half + 0.5) - gammaln(half)) / math.sqrt(half)  # of the pilot's standard deviation
        if self.pilot.leanings is None:
            half_width = self.pilot.half_width(study.n_units)
        else:
            half_width = sum(share * studies.half_width() for share, studies in self.pilot.judged(study))
        return 2 * half_width * self.pilot.error_of(study) / bias

    def chances(self, study: Study) -> tuple[float, float]:
        """P(the study says a), P(it says b)."""
        error, df = self.pilot.error_of(study), max(study.n_units - 1, 1)
        if self.pilot.totals is not None and error > 0 and (self.difference is not None or not self.keep):
            return self._resampled(study, error)
        if self.pilot.leanings is not None:
            bar = self._typical_bar(study) * error
        else:
            stretch = max(1.0, self.pilot.half_width(study.n_units) / float(stdtrit(df, 0.975)))
            bar = float(stdtrit(df, self.certainty)) * stretch * error
        if self.difference is not None:
            centre, spread = self.difference, error
        else:
            centre, variance = self.pilot.difference, self.pilot.error**2
            spread = math.sqrt(max(variance - error**2, 0.0) if self.keep else variance + error**2)
        if spread == 0:
            return float(centre < -bar), float(centre > bar)
        ends = (-bar - centre) / spread, (centre - bar) / spread
        if self.difference is not None:
            return float(ndtr(ends[0])), float(ndtr(ends[1]))
        return float(stdtr(self.pilot.df, ends[0])), float(stdtr(self.pilot.df, ends[1]))

    def _typical_bar(self, study: Study) -> float:
        """How far from 0 the mean of a study has to lie, in standard errors: the median over studies."""
        parts = [(share, studies.bars(self.certainty)) for share, studies in self.pilot.judged(study)]
        return sum(share * float(np.median(np.concatenate(ends))) for share, ends in parts)

    def _resampled(self, study: Study, error: float) -> tuple[float, float]:
        """The same from studies that are drawn from the pilot's units: skewness helps one side and not the other."""
        pilot = self.pilot
        centre, spread = (pilot.difference, pilot.error) if self.difference is None else (self.difference, 0.0)
        at = (self.certainty, centre / error, spread / error, pilot.df)
        parts = [(share, studies.chances(*at)) for share, studies in pilot.judged(study)]
        return sum(share * p_a for share, (p_a, _) in parts), sum(share * p_b for share, (_, p_b) in parts)

    def cost(self, study: Study) -> float | None:
        """What a design costs; None without prices."""
        if self.costs is None:
            return None
        each = self.costs["item"] + self.costs["annotation"] * (study.n_annotators or 0)
        each += self.costs["replicate"] * study.n_replicates
        return study.n_items * each + (study.n_clusters or 0) * self.costs["cluster"]

    def possible(self, study: Study) -> bool:
        """Whether a design has room for the pilot's items, where it keeps them."""
        kept, pilot = self.keep and self.difference is None, self.pilot
        return not kept or (
            pilot.error_of(study) <= pilot.error * (1 + 1e-9) and study.n_items >= pilot.study.n_items * (1 - 1e-9)
        )

    def enough(self, study: Study) -> bool:
        """Whether a design is possible and reaches the power, or the width if there is one."""
        if not self.possible(study):
            return False
        if self.width is not None:
            return self.expected_width(study) <= self.width
        return sum(self.chances(study)) >= self.power

    def row(self, name: str, study: Study) -> Row:
        """The row of a table of designs."""
        p_a, p_b = self.chances(study)
        counts = (study.n_items, study.n_annotators, study.n_clusters, study.n_replicates)
        values = (name, *map(_count, counts), self.expected_width(study), p_a + p_b, p_a, p_b, self.cost(study))
        return dict(zip(COLUMNS, values, strict=True))


def doubled(pilot: Pilot, study: Study) -> Iterator[tuple[str, Study]]:
    """The study with twice as much of each thing that the pilot has."""
    if pilot.items > 0 or pilot.labels or pilot.replicates:  # more items average out the noise of single answers too
        yield "items x 2", replace(study, n_items=2 * study.n_items)
    if study.n_clusters is not None:
        yield "clusters x 2", replace(study, n_items=2 * study.n_items, n_clusters=2 * study.n_clusters)
    if pilot.labels is not None and study.n_annotators is not None:
        yield "annotators x 2", replace(study, n_annotators=2 * study.n_annotators)
    if pilot.replicates is not None:
        yield "replicates x 2", replace(study, n_replicates=2 * study.n_replicates)


def sizes(study: Study) -> Iterator[Study]:
    """The study with other numbers of items, from a tenth to ten times as many."""
    each = None if study.n_clusters is None else study.n_items / study.n_clusters
    for n in np.unique(np.geomspace(max(study.n_items / 10, 4), study.n_items * 10, 41).round()).tolist():
        yield replace(study, n_items=n, n_clusters=None if each is None else max(round(n / each), 2))


def cheapest(aim: Aim, study: Study) -> Study | None:
    """The cheapest sufficient design: the fewest items for every number of the other things."""
    pilot = aim.pilot
    each = None if study.n_clusters is None else study.n_items / study.n_clusters
    tried = TRIED if pilot.leanings is None else TRIED[1:]  # one unit alone shows no leaning
    annotators = tried if pilot.labels is not None else (study.n_annotators,)
    replicates = tried if pilot.replicates is not None else (study.n_replicates,)
    in_cluster = (None,) if each is None else TRIED if pilot.items > 0 else (each,)
    best: tuple[float, Study] | None = None
    for m, r, k in product(annotators, replicates, in_cluster):
        one = _smallest(aim, m, r, k)
        cost = None if one is None else aim.cost(one)
        if one is not None and cost is not None and (best is None or cost < best[0]):
            best = cost, one
    return None if best is None else best[1]


def _smallest(aim: Aim, m: float | int | None, r: float | int, k: float | int | None) -> Study | None:
    """The sufficient design with the fewest units."""

    def of(units: int) -> Study:
        return Study(units, m, None, r) if k is None else Study(units * k, m, units, r)

    low, high = 1, 2
    while not aim.enough(of(high)):
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if aim.enough(of(middle)) else (middle, high)
    return of(high)


def _count(value: float | int | None) -> float | None:
    """An int if the number is whole."""
    if value is None:
        return None
    return float(round(value)) if math.isclose(value, round(value), rel_tol=1e-9) else float(value)
