"""What a comparison needs of some items, as a state that any engine can make, send and merge."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped

from probtruth import check
from probtruth.comparison.compare import conclude, need_two
from probtruth.comparison.evidence.evidence import SHOWN, Steps, check_size, joined_steps, steps_of
from probtruth.comparison.evidence.sweeps import Extremes, differences, nonzero
from probtruth.comparison.options import checked_options
from probtruth.errors import InputError
from probtruth.kernels.exact_sums import exact_fraction, product_terms
from probtruth.streaming.evidence_of_state import Exact, all_rows, evidence_of_state
from probtruth.types import Comparison, Scores
from probtruth.types.arguments import Engine
from probtruth.types.index import positions, sort_names
from probtruth.types.shown import Brief

MARK = "probtruth comparison state 2"
"""What the bytes begin with; the number is that of their form."""


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonState(Brief):
    """Sums over items from which a comparison follows; states of different items merge in any order.

    A row is one model's scores, or the differences of two; models and groups stand by name (without groups there is
    one, of the name ""). `sums` are exact, so that neither the order in which states are merged nor the way in which
    the items were cut into batches changes a bit. `infinite` counts scores by sign; rows of such models hold zeros.
    """

    models: tuple[str, ...]
    rule: str
    higher_is_better: bool
    bounds: tuple[float, float] | None
    steps: Steps | None
    groups: tuple[str, ...]
    n_items: Int[np.ndarray, " group"]
    sums: Exact
    extremes: Extremes
    infinite: Int[np.ndarray, "sign model group"]
    infinite_items: tuple[tuple[str, ...], ...]

    def __repr__(self) -> str:
        """The models, the size and the rule."""
        known = f", {len(self.groups):,} groups" if len(self.groups) > 1 else ""
        models = f"{len(self.models)} models on {self.n_items.sum():,} items"
        return f"ComparisonState: {check.quote(self.rule)}, {models}{known}"

    def merge(self, other: "ComparisonState") -> "ComparisonState":
        """The state of the items of both. No item may be in both: names are not kept, so this cannot be checked.

        Errors: `InputError` if models, rule, direction or bounds differ, or if only one has groups.
        """
        for what in ("models", "rule", "higher_is_better", "bounds"):
            ours, theirs = getattr(self, what), getattr(other, what)
            if ours != theirs:
                raise InputError(f"states with {what} {ours!r} and {theirs!r}", "the same", "Score all batches alike.")
        if ("" in self.groups) != ("" in other.groups):
            raise InputError("a state with groups and one without", "groups in all, or in none", "Name every group.")
        groups = sort_names({*self.groups, *other.groups})
        one, two = (state.spread(groups) for state in (self, other))
        named = zip(one.infinite_items, two.infinite_items, strict=True)
        return replace(
            one,
            steps=joined_steps(one.steps, two.steps),
            n_items=one.n_items + two.n_items,
            sums=one.sums + two.sums,
            extremes=one.extremes.merged(two.extremes),
            infinite=one.infinite + two.infinite,
            infinite_items=tuple(sort_names({*ours, *theirs})[:SHOWN] for ours, theirs in named),
        )

    def spread(self, groups: tuple[str, ...]) -> "ComparisonState":
        """The same with more groups, which have no items."""
        if groups == self.groups:
            return self
        at = positions(groups, self.groups)

        def wide(values: np.ndarray, empty: object) -> np.ndarray:
            table = np.full((*values.shape[:-1], len(groups)), empty, values.dtype)
            table[..., at] = values
            return table

        ends = replace(self.extremes, low=wide(self.extremes.low, inf), high=wide(self.extremes.high, -inf))
        counts = {"n_items": wide(self.n_items, 0), "infinite": wide(self.infinite, 0)}
        return replace(self, groups=groups, sums=wide(self.sums, Fraction(0)), extremes=ends, **counts)  # type: ignore[arg-type]

    def ungrouped(self) -> "ComparisonState":
        """The same without groups."""
        ends = self.extremes
        return replace(
            self,
            groups=("",),
            n_items=self.n_items.sum(keepdims=True),
            sums=self.sums.sum(-1, keepdims=True),
            extremes=replace(ends, low=ends.low.min(1, keepdims=True), high=ends.high.max(1, keepdims=True)),
            infinite=self.infinite.sum(-1, keepdims=True),
        )

    def to_bytes(self) -> bytes:
        """The state as JSON in UTF-8, to be stored or sent; `from_bytes` reads it."""
        ends = self.extremes
        data = {
            "is": MARK,
            "models": self.models,
            "rule": self.rule,
            "higher_is_better": self.higher_is_better,
            "bounds": None if self.bounds is None else _hex(self.bounds),
            "steps": self.steps,
            "groups": self.groups,
            "n_items": self.n_items.tolist(),
            "sums": [f"{one.numerator:x}/{one.denominator:x}" for one in self.sums.ravel()],
            "ends": [_hex(values.ravel()) for values in (ends.low, ends.high, ends.least, ends.most)],
            "differ": ends.differ.tolist(),
            "infinite": self.infinite.tolist(),
            "infinite_items": self.infinite_items,
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "ComparisonState":
        """The state that `to_bytes` wrote.

        Errors: `InputError` for anything else.
        """
        try:
            return cls(**_read(json.loads(data)))
        except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, OverflowError) as error:
            raise InputError(
                f"bytes that are no comparison state ({type(error).__name__})",
                "what to_bytes wrote, in this version",
                "Make the state again from the scores.",
            ) from None

    def finalize(
        self,
        *,
        rope: float | str | None = None,
        weights: Mapping[str, float] | None = None,
        engine: Engine = "exact",
        draws: int = 2500,
        seed: int = 0,
        strict: bool = False,
    ) -> Comparison:
        """The comparison of all items: what `compare` returns of their scores, to the rounding of the sums.

        What needs the items themselves is unknown: the tests without a model, but for the t-test; the share of the
        labels in the uncertainty; and what labels that never came would change, unless the rule is bounded.

        Arguments: as in `compare`; `weights` are those of the groups by name.

        Errors: `InputError` for options that cannot be used, or one model only; `PosteriorError` where the items
        support no answer.
        """
        need_two(self.models)
        return conclude(
            evidence_of_state(self, weights), checked_options(engine, "new-items", rope, draws, seed, strict)
        )


def comparison_state(scores: Scores) -> ComparisonState:
    """The state of one batch of items, from their scores.

    Use it where the items are spread over the workers of an engine (Spark, Ray, DuckDB, processes of your own): make a
    state of each batch, merge them in any order, and call `finalize` once.

    Arguments: `scores` of the batch; its groups, if any, are kept apart. All batches need the same models.

    Returns: a `ComparisonState`, whose size depends on the numbers of models and groups, not of items.

    Errors: `InputError` for clusters (one may go on in another batch), for losses under weights that were fitted to all
    items (see `informed_truth`), and for scores that are NaN or above 1e75 in size.

    >>> import probtruth as pt
    >>> def batch(names, x, y):
    ...     rows = {"item": names * 2, "model": ["x"] * len(x) + ["y"] * len(y), "loss": x + y}
    ...     return pt.streaming.comparison_state(pt.Scores.from_frame(rows, score="loss", higher_is_better=False))
    >>> state = batch(["a", "b"], [0.1, 0.2], [0.3, 0.6]).merge(batch(["c", "d"], [0.4, 0.1], [0.5, 0.2]))
    >>> state
    ComparisonState: 'loss', 2 models on 4 items
    >>> state.finalize().ranking()["model"].to_list()
    ['x', 'y']
    """
    _refuse(scores)
    order = positions(scores.models, sort_names(scores.models))
    values, models = scores.values[order], tuple(scores.models[row] for row in order)
    groups, codes = ("",), np.zeros(values.shape[1], np.int64)
    if scores.groups is not None:
        used, codes = np.unique(scores.groups.codes, return_inverse=True)
        groups = tuple(scores.groups.names[code] for code in used)
    blocks = [values[:, codes == group] for group in range(len(groups))]
    return ComparisonState(
        models=models,
        rule=scores.rule,
        higher_is_better=scores.higher_is_better,
        bounds=scores.known.range,
        steps=steps_of(values),
        groups=groups,
        n_items=np.bincount(codes, minlength=len(groups)),
        sums=np.stack([_sums(block) for block in blocks], -1),
        extremes=_extremes(blocks),
        infinite=np.stack([[(block == sign).sum(1) for sign in (inf, -inf)] for block in blocks], -1),
        infinite_items=tuple(
            sort_names({scores.items[at] for at in np.nonzero(np.isinf(row))[0]})[:SHOWN] for row in values
        ),
    )


def _refuse(scores: Scores) -> None:
    if scores.clusters is not None:
        raise InputError("scores with clusters", "independent items", "Average the scores within each cluster first.")
    if scores.labels is not None and scores.labels.influence is not None:
        fitted = "losses under weights that were fitted to all items"
        raise InputError(fitted, "losses of items by themselves", "Infer the classes with evidence='annotators'.")
    unknown = np.argwhere(np.isnan(scores.values))
    if len(unknown):
        model, item = (names[at] for names, at in zip((scores.models, scores.items), unknown[0], strict=True))
        raise InputError("NaN", "a number", "Remove the item.", f"model {model!r}, item {item!r}")
    sizes = np.abs(scores.values[np.isfinite(scores.values)])
    check_size(float(sizes.max(initial=0.0)), smallest=0.0)  # another batch may have larger ones


def _numbers(values: Float[np.ndarray, "model item"]) -> Float[np.ndarray, "row item"]:
    """All rows; zeros where a model has an infinite score."""
    with np.errstate(invalid="ignore"):
        taken = differences(values, all_rows(len(values)))
    taken[~np.isfinite(taken).all(1)] = 0.0
    return taken


def _sums(values: Float[np.ndarray, "model item"]) -> Shaped[np.ndarray, "power row"]:
    table = np.empty((3, len(all_rows(len(values)))), object)
    for row, numbers in enumerate(_numbers(values)):
        square = product_terms(numbers, numbers)
        cube = [term for part in square for term in product_terms(numbers, part)]
        table[:, row] = [exact_fraction(terms) for terms in ([numbers], square, cube)]
    return table


def _extremes(blocks: Sequence[Float[np.ndarray, "model _"]]) -> Extremes:
    """Those of every row in every group; what is not 0 is counted over all groups."""
    taken = [_numbers(block) for block in blocks]
    ends = (np.stack([end(numbers, axis=1) for numbers in taken], -1) for end in (np.min, np.max))
    low, high = ends
    return Extremes(low, high, *nonzero(np.concatenate(taken, axis=1)))


def _hex(values: Sequence[float] | np.ndarray) -> list[str]:
    return [float(value).hex() for value in values]


def _floats(written: Sequence[str]) -> np.ndarray:
    return np.array([float.fromhex(value) for value in written], np.float64)


def _fraction(written: str) -> Fraction:
    above, below = written.split("/")
    return Fraction(int(above, 16), int(below, 16))


def _read(known: dict[str, Any]) -> dict[str, Any]:
    if known.pop("is") != MARK:
        raise ValueError("another form")
    models, groups = tuple(known["models"]), tuple(known["groups"])
    rows, width = len(all_rows(len(models))), len(groups)
    low, high, least, most = map(_floats, known.pop("ends"))
    sums = np.array([_fraction(one) for one in known["sums"]], object)
    shape = rows, width
    return known | {
        "models": models,
        "groups": groups,
        "bounds": None if known["bounds"] is None else tuple(_floats(known["bounds"]).tolist()),
        "steps": None if known["steps"] is None else tuple(map(int, known["steps"])),
        "n_items": np.array(known["n_items"], np.int64).reshape(width),
        "sums": sums.reshape(3, *shape),
        "extremes": Extremes(
            low.reshape(shape), high.reshape(shape), np.array(known.pop("differ"), np.int64).reshape(rows), least, most
        ),
        "infinite": np.array(known["infinite"], np.int64).reshape(2, len(models), width),
        "infinite_items": tuple(map(tuple, known["infinite_items"])),
    }
