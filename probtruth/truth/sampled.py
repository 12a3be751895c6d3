"""Methods whose classes are summed out and whose parameters are sampled by NUTS: from a program to a `Fit`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key
from scipy.optimize import linear_sum_assignment

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.precision import float64_on_cpu
from probtruth.truth import em
from probtruth.truth.annotators.quality import quality, sampled_columns
from probtruth.truth.fit import DRAW_BYTES, MethodFit, MethodRequest, class_rows
from probtruth.truth.flat import FlatAnnotations, flatten

if TYPE_CHECKING:
    from probtruth.inference.nuts import Draws

# R-hat at which sampling counts as converged: the largest over hundreds of parameters is seldom below 1.01.
SETTLED = 1.05

# Effective draws, bulk and tail, below which sampling does not count as converged (a single chain has no R-hat).
ENOUGH = 100.0

MOST_BYTES = 2**31  # Memory that all draws of the parameters may take while a method runs: 2 GiB

CHECKS = ("agreement", "agreement_spread")  # Statistics of answers that are compared with those of replicated ones

FULL = 16  # Cells of a table for each annotation up to which a product of matrices is quicker than sums along the list

ROWS = 32  # Tables of distinct items have a multiple of so many rows

TIE = 1e-9  # Statistics closer than this are equal

# How far from the middle of the priors chains start: from far away, some stay where hardly any probability is.
NEAR = 0.1


@dataclass(frozen=True)
class NutsSettings:
    """How long to sample: `samples` draws in each of `chains` chains, after `warmup` that do not count."""

    samples: int
    warmup: int
    chains: int

    def __post_init__(self) -> None:
        """Checks the values."""
        check.whole(self.samples, 4, "samples")
        check.whole(self.warmup, 1, "warmup")
        check.whole(self.chains, 1, "chains")

    def need_memory(self, numbers_a_draw: int, what: str, hint: str) -> None:
        """Raises where all draws, with 8 bytes a number, take more than `MOST_BYTES`."""
        size = 8 * self.samples * self.chains * numbers_a_draw
        if size > MOST_BYTES:
            raise InputError(
                f"{what}, whose draws take {size / 2**30:.1f} GiB", f"at most {MOST_BYTES / 2**30:.0f} GiB", hint
            )

    def draw(
        self,
        program: Callable[..., None],
        data: Mapping[str, np.ndarray],
        seed: int,
        target_accept: float,
        start_width: float = 1.0,
    ) -> "Draws":
        """Draws of the program's parameters, and how the sampling went; the last two are those of `nuts.sample`."""
        # numpyro loads here, not with the module: the other methods do without it and start a third of a second sooner
        from probtruth.inference import nuts

        return nuts.sample(
            program,
            data,
            seed,
            draws=self.samples,
            warmup=self.warmup,
            chains=self.chains,
            target_accept=target_accept,
            start_width=start_width,
        )

    def diagnostics(self, drawn: "Draws", by_chain: Mapping[str, np.ndarray]) -> dict[str, object]:
        """Convergence of these quantities, whose axes start with chain and draw, and what the sampler tells."""
        from probtruth.inference.diagnostics import convergence

        rhat, ess = convergence(dict(by_chain))
        return {
            "converged": settled(rhat, ess),
            "n_iterations": self.samples + self.warmup,
            "max_rhat": rhat,
            "min_ess": ess,
            "divergences": int(drawn.stats["diverging"].sum()),
        }


def fit_by_nuts(request: MethodRequest, program: str, settings: NutsSettings) -> MethodFit:
    """Samples the program of that name in `probtruth.truth.programs`."""
    # numpyro loads here, as above
    from probtruth.truth import programs

    flat = flatten(request)
    settings.need_memory(
        flat.n_annotators * flat.n_labels**2,
        f"{flat.n_annotators} annotators and {flat.n_labels} labels",
        "This method samples every annotator's confusion: lower samples, or use 'ability' or 'pooled'.",
    )
    data = {"item": flat.item, "cell": flat.cell, "weight": flat.weight, "kinds": _kinds(request.gold, flat.n_labels)}
    crowd = {"annotators": np.zeros(flat.n_annotators), **distinct_items(_table(flat), data["kinds"])}
    drawn = settings.draw(getattr(programs, program), data | crowd, request.seed, target_accept=0.8, start_width=NEAR)
    log_marginals = drawn.sites["log_marginals"]
    with float64_on_cpu():
        arrays = {name: jnp.asarray(part) for name, part in data.items()}
        arrays["each"] = jnp.asarray(flat.each())
        sites = (drawn.sites[name] for name in ("log_marginals", "log_places", "log_answers"))
        parts = (jnp.asarray(part.reshape(-1, *part.shape[2:])) for part in sites)
        probs, of_draw = jax.tree.map(np.asarray, _summaries(jax.random.key(request.seed), *parts, programs, **arrays))
    by_chain = {name: part.reshape(*log_marginals.shape[:2], *part.shape[1:]) for name, part in of_draw.items()}
    log_rows = by_chain["log_confusion"]
    columns = sampled_columns(flat.n_annotations, *(of_draw[name] for name in ("accuracy", "skill", "information")))
    diagnostics = settings.diagnostics(drawn, {"log_marginals": log_marginals, "log_confusion": log_rows})
    diagnostics["label_switching"] = switching(log_rows) or em.label_switching(probs, flat)
    item, label = (jnp.asarray(part[flat.each()]) for part in (flat.item, flat.label))
    for name, observed in zip(CHECKS, _agreement(item, label, flat.n_items, flat.n_labels), strict=True):
        above, same = of_draw[name] > observed + TIE, np.abs(of_draw[name] - observed) <= TIE
        diagnostics |= {name: float(observed), f"p_{name}": float(above.mean() + same.mean() / 2)}
    sampled = {
        "marginals": np.exp(log_marginals),
        "confusion": np.exp(log_rows).astype(np.float32),
        **{name: by_chain[name] for name in ("class", *CHECKS)},
        **drawn.stats,
    }
    if 4 * by_chain["log_likelihood"].size <= DRAW_BYTES:
        sampled["log_likelihood"] = by_chain["log_likelihood"].astype(np.float32)
    return MethodFit(
        probs,
        class_rows(of_draw["class"], flat.n_labels, request.draws),
        np.exp(log_marginals).mean((0, 1)),
        np.exp(log_rows).mean((0, 1)),
        diagnostics,
        columns,
        sampled=sampled,
    )


def distinct_items(
    table: Float[np.ndarray, "row cell"], kinds: Float[np.ndarray, "item kind"]
) -> dict[str, np.ndarray]:
    """Items with the same annotations and known answer once, and how many `times` they are there."""
    if not len(table):
        return {"table": table, "kinds": kinds, "times": np.ones(len(kinds))}
    rows, times = np.unique(np.concatenate([table, kinds], axis=1), axis=0, return_counts=True)
    none = ((0, -len(rows) % ROWS), (0, 0))
    rows = np.pad(rows, none)
    by_column = np.ascontiguousarray(rows.T)
    return {"table": by_column, "kinds": rows[:, table.shape[1] :], "times": np.pad(times, none[0]).astype(np.float64)}


def _kinds(gold: Int[np.ndarray, " item"], n_labels: int) -> Float[np.ndarray, "item kind"]:
    """A 1 in the first column for an item whose class is not known, else in the one after that of its label."""
    kinds: np.ndarray = np.eye(n_labels + 1)[gold + 1]
    return kinds


def _table(flat: FlatAnnotations) -> Float[np.ndarray, "row cell"]:
    """The annotations as a table of items and cells; without rows where most of it would be zeros."""
    n_cells = flat.n_annotators * flat.n_labels
    table = np.zeros((flat.n_items if flat.n_items * n_cells <= FULL * len(flat.item) else 0, n_cells))
    if len(table):
        table[flat.item, flat.cell] = flat.weight
    return table


@partial(jax.jit, static_argnames="of")
def _summaries(
    key: Array,
    log_marginals: Float[Array, "draw label"],
    log_places: Float[Array, "draw label place"],
    log_answers: Float[Array, "draw annotator place label"],
    of: ModuleType,
    each: Int[Array, " answer"],
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    kinds: Float[Array, "item kind"],
) -> tuple[Float[Array, "item label"], dict[str, Array]]:
    """Mean over draws of P(class), and of every draw its classes, annotators' quality and checks."""
    n_items, n_labels = len(kinds), log_marginals.shape[1]

    def one(total: Array, now: tuple[Array, ...]) -> tuple[Array, dict[str, Array]]:
        key, marginals, places_now, log_now = now
        place_key, class_key, answer_key = jax.random.split(key, 3)
        joint = of.log_joint(item, cell, weight, kinds, places_now, log_now)
        at_places = jax.nn.softmax(joint, axis=1)
        place = categorical(place_key, at_places)
        there = of.classes(jax.nn.one_hot(place, joint.shape[1], dtype=joint.dtype), kinds, places_now)
        rows = of.log_confusion(log_now, places_now)
        accuracy, skill, information = quality(jnp.exp(rows), marginals)
        answers = categorical(answer_key, jnp.exp(log_now[cell[each] // n_labels, place[item[each]]]))
        by_draw = {
            "class": categorical(class_key, there).astype(jnp.uint16),
            "log_confusion": rows,
            "log_likelihood": jax.nn.logsumexp(joint, axis=1),
            "accuracy": jnp.asarray(accuracy),
            "skill": jnp.asarray(skill),
            "information": jnp.asarray(information),
            **dict(zip(CHECKS, _agreement(item[each], answers, n_items, n_labels), strict=True)),
        }
        return total + of.classes(at_places, kinds, places_now), by_draw

    n_draws = len(log_marginals)
    keys = jax.random.split(key, n_draws)
    total, by_draw = jax.lax.scan(one, jnp.zeros((n_items, n_labels)), (keys, log_marginals, log_places, log_answers))
    return total / n_draws, by_draw


def _agreement(
    item: Int[Array, " answer"], label: Int[Array, " answer"], n_items: int, n_labels: int
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Mean and standard deviation over items of the share of pairs of answers that agree (0 without any pair)."""
    counts = jnp.zeros((n_items, n_labels)).at[item, label].add(1.0)
    votes = counts.sum(1)
    pairs = votes * (votes - 1)
    share = (counts * (counts - 1)).sum(1) / jnp.maximum(pairs, 1.0)
    many = jnp.maximum((pairs > 0).sum(), 1)
    mean = share.sum() / many
    return mean, jnp.sqrt(jnp.where(pairs > 0, (share - mean) ** 2, 0.0).sum() / many)


def categorical(key: Key[Array, ""], weights: Float[Array, "row label"]) -> Int[Array, " row"]:
    """A position for each row, with probabilities in proportion to its weights (of which one must be positive)."""
    steps = jnp.cumsum(weights, axis=1)
    level = jax.random.uniform(key, (weights.shape[0], 1), weights.dtype) * steps[:, -1:]
    return jnp.minimum((level >= steps).sum(1), weights.shape[1] - 1)


def settled(rhat: float, ess: float) -> bool:
    """Whether the chains agree and hold enough effective draws (infinitely many where nothing varies)."""
    return rhat <= SETTLED and ess >= ENOUGH


def switching(log_rows: Float[np.ndarray, "chain draw annotator label label"]) -> bool:
    """Whether some chain gives the classes other names than the labels: not best on the diagonal."""
    for chain in np.exp(log_rows).mean((1, 2)):
        rows, columns = linear_sum_assignment(chain, maximize=True)
        if (columns != rows).any():
            return True
    return False
