"""Truth: what is known about each item's label, as a distribution over the labels.

A truth as an ArviZ DataTree with named dimensions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from probtruth import check, check_arrays, frames
from probtruth.errors import InputError
from probtruth.frame_numbers import NamedNumbers, row_names
from probtruth.kernels.arrays import LabelTable, on_device, reordered, to_host
from probtruth.kernels.shapes import ItemInts, ItemLabel, LabelFloats
from probtruth.types.annotations import Annotations
from probtruth.types.arguments import ESTIMANDS, Estimand, GivenNames, Numbers
from probtruth.types.index import Index, as_names, hard_labels, named_table, one_hot
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars
    import xarray


DIMENSIONS = {
    "marginals": ("label",),
    "distribution": ("item", "label"),
    "annotations": ("item",),
    "probs": ("item", "label"),
    "shares": ("item", "label"),
    "n_votes": ("item",),
    "confusion": ("annotator", "label", "answer"),
    "class": ("item",),
    "bias": ("annotator", "label"),
}  # Dimensions after chain and draw; those not named here are scalars

STATS = ("diverging", "lp", "energy", "n_steps", "acceptance_rate")  # The sampler's statistics of every draw

PREDICTED = ("agreement", "agreement_spread")  # Statistics of answers replicated from every draw


@dataclass(frozen=True, eq=False, repr=False)
class Truth(Brief):
    """The reference: one distribution over labels for each item, under a named estimand.

    `probs` is the posterior mean (an array of JAX, if that is what `from_probs` got). `shares` are the unsmoothed vote
    shares and `n_votes` the votes behind them, if there are votes. `draws` are posterior draws of the whole table.
    Under the estimand `distribution` a row is how annotators would answer, under `class` it is the probability that the
    item's one true class is that label. `marginals` are the label frequencies of the method's model; `confusion[j, k,
    l]` is the probability that annotator j says l if the truth is k. `diagnostics` holds the method's own figures
    (iterations, converged, ...). `annotator_results` and `item_results` are the method's columns of `annotators()` and
    of `by_item()`; `evidence` holds, of the method "pooled", the class probabilities if annotators erred independently;
    `sampled` draws of the parameters of methods that sample them, with axes chain and draw first, for `datatree()`.
    `annotations` are those that the truth was inferred from, so that scores and comparisons know what they rest on;
    None where the labels come from elsewhere. `uninformed` is the same truth before models' forecasts counted as
    evidence of the classes, from which scores and comparisons start again; None where none did.
    """

    probs: LabelTable
    index: Index
    estimand: str
    method: str
    shares: ItemLabel | None = None
    n_votes: ItemInts | None = None
    draws: Float[np.ndarray, "draw item label"] | None = None
    marginals: LabelFloats | None = None
    confusion: Float[np.ndarray, "annotator label label"] | None = None
    diagnostics: Mapping[str, object] = field(default_factory=dict)
    annotator_results: Mapping[str, np.ndarray] = field(default_factory=dict)
    item_results: Mapping[str, np.ndarray] = field(default_factory=dict)
    evidence: Mapping[str, np.ndarray] = field(default_factory=dict)
    sampled: Mapping[str, np.ndarray] = field(default_factory=dict)
    annotations: Annotations | None = None
    uninformed: "Truth | None" = None

    def __repr__(self) -> str:
        """The method, the estimand, the size and the labels."""
        labels = check.shortlist(self.index.labels, 6)
        items = check.count(self.n_items, "item")
        return f"Truth: {self.method}, estimand {self.estimand}, of {items}; labels {labels}"

    def annotators(self) -> "polars.DataFrame":
        """One row for each annotator: `annotator`, then the method's results for them (in the order of the index).

        `n_annotations`; `accuracy`, the probability that an annotation names the item's true class (under "pooled" NaN
        where nobody else answered the annotator's items and no class of them is known); `information`, how much an
        answer says about the class, in nats (0 for any spammer); and the method's own columns, such as
        `ability`, or `skill` (kappa with the truth, 0 by chance) and `flag` ("spammer", "adversary" or ""), with
        equal-tailed 95% intervals `_low` and `_high` if it has them.

        Errors: `InputError` if the method does not model annotators.
        """
        if not self.annotator_results:
            raise InputError(
                f"truth of the method {self.method!r}, which knows nothing of annotators",
                "truth of a method with annotators",
                "Infer it with estimand='class' from annotations that name their annotators.",
            )
        columns: dict[str, object] = {"annotator": list(self.index.annotators), **self.annotator_results}
        return frames.as_polars(columns)

    def by_item(self) -> "polars.DataFrame":
        """One row for each item: `item`, `n_votes`, `entropy` of its probabilities (nats), and the method's columns."""
        from scipy.special import entr

        columns: dict[str, object] = {"item": list(self.index.items)}
        if self.n_votes is not None:
            columns["n_votes"] = self.n_votes
        return frames.as_polars({**columns, "entropy": entr(to_host(self.probs)).sum(1), **self.item_results})

    def datatree(self) -> "xarray.DataTree":
        """An ArviZ DataTree: parameters (or draws of the truth), sampler statistics, and the input.

        Methods sampled by NUTS have the group `log_likelihood`, one value for each item with its class summed out, so
        that `arviz.loo` and `arviz.compare` judge truth models by how they predict a new item's annotations; and
        `posterior_predictive`, the `agreement` of replicated answers (the mean share of an item's pairs of annotations
        that agree) and its `agreement_spread` over items, with the observed ones in `observed_data`.
        """
        import xarray

        sampled, facts, labels = dict(self.sampled), self.diagnostics, list(self.index.labels)
        groups: dict[str, Mapping[str, object]] = {
            "posterior": sampled,
            "log_likelihood": {"annotations": sampled.pop("log_likelihood", None)},
            "sample_stats": {name: sampled.pop(name, None) for name in STATS},
            "posterior_predictive": {name: sampled.pop(name, None) for name in PREDICTED},
            "observed_data": {name: np.asarray(facts[name]) for name in PREDICTED if name in facts},
            "constant_data": {"probs": to_host(self.probs), "shares": self.shares, "n_votes": self.n_votes},
        }
        if not sampled and self.draws is not None:
            sampled["distribution"] = self.draws[None]
        attributes = {name: value for name, value in facts.items() if isinstance(value, (int, float, str))}
        attributes |= {name: int(value) for name, value in attributes.items() if isinstance(value, bool)}
        tree = {"/": xarray.Dataset(attrs={"method": self.method, "estimand": self.estimand, **attributes})}
        of_axis = {"item": list(self.index.items), "label": labels, "answer": labels}
        of_axis["annotator"] = list(self.index.annotators)
        for group, values in groups.items():
            draws = () if group.endswith("_data") else ("chain", "draw")
            found = {
                name: ((*draws, *DIMENSIONS.get(name, ())), value)
                for name, value in values.items()
                if value is not None
            }
            if found:
                made = xarray.Dataset(found)
                coordinates = {name: of_axis.get(str(name), np.arange(size)) for name, size in made.sizes.items()}
                tree[f"/{group}"] = made.assign_coords(coordinates)
        return xarray.DataTree.from_dict(tree)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.index.items)

    @classmethod
    def from_probs(
        cls, probs: Numbers, items: GivenNames = None, labels: GivenNames = None, estimand: Estimand = "distribution"
    ) -> "Truth":
        """Soft labels from the caller: one distribution (row) for each item. Their own uncertainty is unknown.

        An array of JAX stays where it lies.

        Arguments:
            probs: probabilities; the last axis is the label.
            items: the names of the rows, in their order.
            labels: the names of the labels, in the order of the columns.
            estimand: as in `infer_truth`.

        Errors: `InputError` for a row that is not a distribution; nothing is clipped or renormalised.
        """
        table = named_table(probs, items, labels, "soft labels")
        array = check_arrays.as_float_table(table.values, "soft labels")
        names, labels = table.items, table.labels
        index, rows, columns = Index.of_array(array.shape, names, labels)
        check_arrays.distributions(
            array, lambda row: f"item {row if names is None else check.quote(names[row])}", "soft labels"
        )
        check.one_of(estimand, ESTIMANDS, "estimand")
        ordered = reordered(array, rows, columns)
        mine = (
            np.array(ordered, order="C") if ordered is array and not on_device(ordered) else ordered
        )  # the caller's may change
        return cls(mine, index, estimand, "given")

    @classmethod
    def from_labels(
        cls, labels: ArrayLike, n_labels: int | None = None, items: GivenNames = None, classes: GivenNames = None
    ) -> "Truth":
        """Hard labels, as certain labels.

        Arguments:
            labels: names, or integers from 0, which are positions.
            n_labels: how many labels there are, needed for integers alone, since the highest may not occur.
            items: the names of the items.
            classes: the names of all labels, in the order of the columns that an array without names has on the other
                side (scikit-learn's `classes_`). By default those that occur, in no order.

        Errors: `InputError` for a label that is not one of these, and integers without the number of labels.

        >>> import probtruth as pt
        >>> pt.Truth.from_labels(["dog", "cat"], classes=["cat", "dog", "owl"]).probs.tolist()
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
        """
        check_arrays.shape_of(labels, "labels")
        if n_labels is None and classes is None and hard_labels(labels).dtype.kind in "biu":
            raise InputError(
                "integer labels alone",
                "how many labels there are: the highest may not occur",
                "Pass n_labels=..., or classes=[...], the names of all labels in order.",
            )
        rows = row_names(labels)
        certain, names = one_hot(labels, as_names(classes, "classes"), n_labels, "labels")
        if names is not None and n_labels not in (None, len(names)):
            raise InputError(
                f"{len(names)} labels ({check.shortlist(names)})",
                f"n_labels={n_labels!r}",
                "Leave n_labels out, and name all labels with classes=[...].",
            )
        one_hots: Any = NamedNumbers(certain, rows)
        made = cls.from_probs(one_hots, items=items, labels=names, estimand="class")
        if names is None:
            return replace(made, index=made.index.of_codes())
        if classes is not None:
            return made
        return replace(made, index=replace(made.index, label_columns=None))
