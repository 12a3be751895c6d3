"""Which items belong together: groups, and the units (clusters, or the items themselves) that are independent."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.kernels.exact_sums import exact_sum, exact_totals


@dataclass(frozen=True, eq=False)
class Structure:
    """Each item's group (None: all in one) and unit (None: it is one itself), and each unit's group."""

    n_items: Int[np.ndarray, " group"]
    group: Int[np.ndarray, " item"] | None = None
    unit: Int[np.ndarray, " item"] | None = None
    unit_group: Int[np.ndarray, " unit"] | None = None

    @classmethod
    def of(cls, groups: Int[np.ndarray, " item"], clusters: Int[np.ndarray, " item"] | None) -> "Structure":
        """From each item's group and cluster; a cluster's items lie in one group."""
        if clusters is None:
            return cls.of_units(None, groups)
        _, first, unit = np.unique(clusters, return_index=True, return_inverse=True)
        return cls.of_units(unit, groups[first])

    @classmethod
    def of_units(
        cls, unit: Int[np.ndarray, " item"] | None, group: Int[np.ndarray, " unit"], n_groups: int = 0
    ) -> "Structure":
        """From each item's unit and each unit's group; there may be more groups than have items."""
        of_item = group if unit is None else group[unit]
        n_items = np.bincount(of_item, minlength=n_groups)
        return cls(n_items, of_item if len(n_items) > 1 else None, unit, None if unit is None else group)

    @classmethod
    def ungrouped(cls, n_items: int, clusters: Int[np.ndarray, " item"] | None = None) -> "Structure":
        """All items in one group."""
        return cls(np.array([n_items])) if clusters is None else cls.of(np.zeros(n_items, np.int64), clusters)

    def among(self, present: Bool[np.ndarray, " more"]) -> "Structure":
        """The same where the items are those of more that are present; the others belong nowhere (-1)."""
        if present.all():
            return self

        def spread(codes: Int[np.ndarray, " item"] | None) -> Int[np.ndarray, " more"] | None:
            if codes is None:
                return None
            wide = np.full(len(present), -1)
            wide[present] = codes
            return wide

        return Structure(self.n_items, spread(self.group), spread(self.unit), self.unit_group)

    def codes(self, items: Int[np.ndarray, " some"]) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Groups and units of some items."""
        return (
            None if self.group is None else self.group[items],
            None if self.unit is None else self.unit[items],
        )

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.n_items)

    @property
    def n_units(self) -> Int[np.ndarray, " group"]:
        """Units of each group."""
        return self.n_items if self.unit_group is None else np.bincount(self.unit_group, minlength=self.n_groups)

    def of_item(self) -> Int[np.ndarray, " item"]:
        """Each item's group."""
        return np.zeros(int(self.n_items.sum()), np.int64) if self.group is None else self.group

    def of_unit(self) -> Int[np.ndarray, " unit"]:
        """Each unit's group."""
        return self.of_item() if self.unit_group is None else self.unit_group

    def unit_totals(self, rows: Float[np.ndarray, "row item"]) -> Float[np.ndarray, "row unit"]:
        """The total of each unit."""
        if self.unit is None or self.unit_group is None:
            return rows
        return exact_totals(rows, self.unit, len(self.unit_group))

    def group_totals(self, rows: Float[np.ndarray, "row unit"]) -> Float[np.ndarray, "row group"]:
        """The total of each group."""
        return exact_sum(rows)[:, None] if self.n_groups == 1 else exact_totals(rows, self.of_unit(), self.n_groups)
