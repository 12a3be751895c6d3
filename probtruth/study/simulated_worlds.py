"""Worlds to test a method in: the user's own items, clusters and groups as a population with a known mean difference.

The population can be moved to any true difference. Continuous, unbounded differences are shifted; with bounds or ties,
which a shift would break, units are drawn with unequal chances instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import brentq

from probtruth.comparison.evidence.crossed import excess, wider
from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import Location, Moments, combine, means_of
from probtruth.comparison.evidence.sweeps import TIES
from probtruth.errors import InputError

BLOCK = 1 << 20
"""Numbers drawn at once."""
STEEPEST = 4.0
"""Chances differ by at most this factor's exponential per standard deviation; beyond, mirror images are added."""
BEYOND = 400.0
"""The same with mirror images."""
FURTHEST = 0.9
"""The largest true difference that unequal chances can reach, as a share of the largest difference of each group."""


@dataclass(frozen=True, eq=False)
class World:
    """Units (items or clusters) with their differences, from which studies are drawn with replacement in each group.

    `values` are the items' differences, unit after unit; `first` and `size` say where each unit's lie. `chance` holds
    the units' chances within their group, None if they are equal. A study has `drawn` units of each group, which enter
    the mean with `weights`. `largest` is the size of the scores, `reach` the largest possible difference that
    `compare` knows (0: none). If the same annotators judge many items, `cells` are the differences by each of them,
    and a study draws annotators too.
    """

    values: Float[np.ndarray, " item"]
    first: Int[np.ndarray, " unit"]
    size: Int[np.ndarray, " unit"]
    group: Int[np.ndarray, " unit"]
    weights: Float[np.ndarray, " group"]
    drawn: Int[np.ndarray, " group"]
    clustered: bool
    largest: float
    reach: float
    bounded: bool = False
    cells: Float[np.ndarray, "item annotator"] | None = None
    chance: Float[np.ndarray, " unit"] | None = None
    mirrored: bool = False

    @classmethod
    def of(
        cls,
        difference: Float[np.ndarray, " item"],
        within: Structure,
        weights: Float[np.ndarray, " group"],
        largest: float,
        reach: float,
        bounded: bool = False,
        cells: Float[np.ndarray, "item annotator"] | None = None,
    ) -> "World":
        """The world of a pilot: as many units of each group as it has."""
        unit = np.arange(len(difference)) if within.unit is None else within.unit
        size, order = np.bincount(unit), np.argsort(unit, kind="stable")
        return cls(
            difference[order],
            np.cumsum(size) - size,
            size,
            within.of_unit(),
            weights,
            within.n_units,
            within.unit is not None,
            largest,
            reach,
            bounded or reach > 0,
            None if cells is None else cells[order],
        )

    @property
    def total(self) -> Float[np.ndarray, " unit"]:
        """The units' total differences."""
        return np.asarray(np.add.reduceat(self.values, self.first))

    @property
    def n_units(self) -> int:
        """Units of a study."""
        return int(self.drawn.sum())

    @property
    def n_items(self) -> int:
        """Items of a study, as expected."""
        groups = len(self.weights)
        return round(float(self.drawn @ (np.bincount(self.group, self.size, groups) / np.bincount(self.group))))

    @property
    def fixed(self) -> bool:
        """Whether values must not be shifted: they have bounds, or more than a fifth of them are ties."""
        return self.bounded or float((self.values == 0).mean()) > TIES

    @property
    def mean(self) -> float:
        """The true difference: the weighted mean over groups of the item-weighted mean over their units."""
        return float(self.weights @ self._group_means(self.chance))

    def _group_means(self, chance: Float[np.ndarray, " unit"] | None) -> Float[np.ndarray, " group"]:
        n, share = len(self.weights), np.ones(len(self.size)) if chance is None else chance
        items = np.bincount(self.group, share * self.size, n)
        return np.asarray(np.bincount(self.group, share * self.total, n) / items)

    def furthest(self) -> float:
        """The largest true difference that this world can be moved to."""
        if not self.fixed:
            return np.inf
        most = np.zeros(len(self.weights))
        np.maximum.at(most, self.group, np.abs(self.total) / self.size)
        return FURTHEST * float(self.weights @ most)

    def scaled(self, n_items: int) -> "World":
        """The same world, with studies of about this many items."""
        factor = n_items / len(self.values)
        return replace(self, drawn=np.maximum(np.round(self.drawn * factor), 1).astype(np.int64))

    def ready_for(self, *targets: float) -> "World":
        """The same world, or one with every unit's mirror image, that can be moved to these true differences."""
        if not self.fixed or all(_tilted(self, to, STEEPEST) is not None for to in targets):
            return self
        size, group = np.tile(self.size, 2), np.tile(self.group, 2)
        first = np.concatenate([self.first, self.first + len(self.values)])
        cells = None if self.cells is None else np.concatenate([self.cells, -self.cells])
        values = np.concatenate([self.values, -self.values])
        return replace(self, values=values, first=first, size=size, group=group, cells=cells, mirrored=True)

    def moved(self, to: float) -> "World":
        """The same world with this true difference.

        Errors: `InputError` for a difference that its scores cannot have.
        """
        if not self.fixed:
            by = to - self.mean
            return replace(self, values=self.values + by, cells=None if self.cells is None else self.cells + by)
        chance = _tilted(self, to, BEYOND) if abs(to) <= self.furthest() else None
        if chance is None:
            raise InputError(
                f"a true difference of {to:g}",
                f"one of at most {self.furthest():g} in size, as these scores can have",
                "Name a smaller difference.",
            )
        return replace(self, chance=chance)

    def alone(self, n_units: int) -> "World":
        """The same units in one group, equally likely, with `drawn` of them in a study."""
        nowhere = np.zeros(len(self.group), np.int64)
        return replace(self, group=nowhere, weights=np.ones(1), drawn=np.array([n_units]), chance=None)

    def picks(self, rng: np.random.Generator, studies: int) -> Int[np.ndarray, "study drawn"]:
        """The units of some studies."""
        parts = []
        for group, count in enumerate(self.drawn.tolist()):
            members = np.flatnonzero(self.group == group)
            if self.chance is None:
                parts.append(members[rng.integers(len(members), size=(studies, count))])
            else:
                edges = np.cumsum(self.chance[members])
                at = np.searchsorted(edges, rng.random((studies, count)) * edges[-1], "right")
                parts.append(members[np.minimum(at, len(members) - 1)])
        return np.concatenate(parts, axis=1)

    def studies(self, rng: np.random.Generator, count: int) -> Iterator[Location]:
        """What `compare` uses of each study: some locations, each row a study."""
        n_units = self.n_units
        group = np.repeat(np.arange(len(self.drawn)), self.drawn)
        step = max(1, int(BLOCK / max(n_units * float(self.size.mean()), 1.0)))
        for start in range(0, count, step):
            picks = self.picks(rng, min(step, count - start))
            if not self.clustered and self.cells is None:
                yield self._located(self.values[self.first[picks]], Structure.of(group, None))
                continue
            for units in picks:
                sizes = self.size[units]
                unit = np.repeat(np.arange(n_units), sizes)
                position = np.arange(len(unit)) - np.repeat(np.cumsum(sizes) - sizes - self.first[units], sizes)
                yield self._of_items(position, unit, group, rng)

    def _of_items(
        self, position: np.ndarray, unit: np.ndarray, group: np.ndarray, rng: np.random.Generator
    ) -> Location:
        """One study of the items at these positions, judged by annotators drawn with replacement if they matter."""
        if self.cells is None:
            within = Structure.of_units(unit, group)
            return self._located(self.values[position][None], within)
        n_annotators = self.cells.shape[1]
        table = self.cells[position][:, rng.integers(n_annotators, size=n_annotators)]
        seen = (~np.isnan(table)).sum(1)
        table, unit, seen = table[seen > 0], unit[seen > 0], seen[seen > 0]
        units = np.unique(unit)
        unit, group = np.searchsorted(units, unit), group[units]
        of_group = np.bincount(group[unit], minlength=len(self.weights))
        within = Structure.of_units(unit if self.clustered else None, group, len(self.weights))
        place_of = self._located((np.nansum(table, 1) / seen)[None], within)
        return wider(place_of, [(excess(table, (self.weights / of_group)[group[unit]]),)])

    def _located(self, rows: Float[np.ndarray, "study item"], within: Structure) -> Location:
        means = means_of(rows, np.full(len(rows), self.largest), within, self.reach)
        return combine(Moments.of(within, means, means), means, self.weights)


def _tilted(world: World, to: float, steepest: float) -> Float[np.ndarray, " unit"] | None:
    r"""Chances proportional to $\exp(\lambda (T_j - \delta n_j))$ in each group, under which the mean is `to`.

    None if no such chances exist, or if they would be too unequal.
    """
    residual = world.total - to * world.size
    spread = float(np.sqrt(np.square(residual).mean()))
    if spread == 0:
        return np.ones(len(residual))
    residual = residual / spread

    def chances(steepness: float) -> Float[np.ndarray, " unit"]:
        power = steepness * residual
        top = np.full(len(world.weights), -np.inf)
        np.maximum.at(top, world.group, power)
        return np.asarray(np.exp(power - top[world.group]))

    def excess(steepness: float) -> float:
        return float(world.weights @ world._group_means(chances(steepness))) - to

    if not excess(-steepest) <= 0 <= excess(steepest):
        return None
    return chances(float(brentq(excess, -steepest, steepest, xtol=1e-14)))
