"""Dawid-Skene and abilities by EM: an iteration of ours against ten lines of NumPy and crowd-kit, on the same data."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from probtruth.truth import em
from probtruth.truth.methods import ability
from probtruth.truth.methods import dawid_skene as em_method
from tests.benchmarks.measure import Process, Section, Work, of_processes, optional

ITEMS, ANNOTATORS, LABELS, ANNOTATIONS = 200_000, 5_000, 4, 1_000_000
ITERATIONS = 10
DRAWS = """
import numpy as np, probtruth as pt
from tests.benchmarks.truth import annotations
item, annotator, label = annotations()
votes = pt.Annotations.from_long({{"item": item, "annotator": annotator, "label": label}})
truth = pt.infer_truth(votes, method={method!r})
assert truth.draws.shape[0] >= 2
"""

SAMPLED = """
import numpy as np, probtruth as pt
rng = np.random.default_rng(0)
classes, annotator = np.repeat(rng.integers(5, size=300), 6), np.tile(np.arange(6), 300)
item = np.repeat(np.arange(300), 6)
place = (classes + np.repeat(0.35 * rng.normal(size=300), 6) + rng.normal(0, 0.2, 6)[annotator]
         + rng.logistic(size=1800) / (4 * np.exp(0.4 * rng.normal(size=6)))[annotator])
label = place.round().clip(0, 4).astype(int)
truth = pt.infer_truth(pt.Annotations.from_long({{"item": item, "annotator": annotator, "label": label}}), {method!r})
assert truth.diagnostics["converged"], truth.diagnostics
"""


@cache
def annotations() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Item, annotator and label of every annotation, sorted by item; annotators are right seven times in ten.

    The annotators of an item are drawn by steps that do not come round, so that none stands twice.
    """
    rng, each = np.random.default_rng(0), ANNOTATIONS // ITEMS
    item = np.repeat(np.arange(ITEMS), each)
    steps = rng.integers(1, ANNOTATORS // each, (ITEMS, each)).cumsum(1)
    annotator = ((rng.integers(0, ANNOTATORS, (ITEMS, 1)) + steps) % ANNOTATORS).ravel()
    true = rng.integers(0, LABELS, ITEMS)
    label = np.where(rng.random(ANNOTATIONS) < 0.7, true[item], rng.integers(0, LABELS, ANNOTATIONS))
    return item, annotator, label


def by_bincount(iterations: int) -> np.ndarray:
    """Dawid-Skene EM as one would write it in NumPy."""
    item, annotator, label = annotations()
    cell = annotator * LABELS + label
    probs = np.bincount(item * LABELS + label, minlength=ITEMS * LABELS).reshape(ITEMS, LABELS) + 1e-9
    probs /= probs.sum(1, keepdims=True)
    for _ in range(iterations):
        counts = [np.bincount(cell, probs[item, k], ANNOTATORS * LABELS) for k in range(LABELS)]
        said = np.stack(counts, 1).reshape(ANNOTATORS, LABELS, LABELS) + 1e-9
        log_said = np.log(said / said.sum(1, keepdims=True)).reshape(-1, LABELS)
        joint = np.stack([np.bincount(item, log_said[cell, k], ITEMS) for k in range(LABELS)], 1)
        joint += np.log(probs.mean(0))
        probs = np.exp(joint - joint.max(1, keepdims=True))
        probs /= probs.sum(1, keepdims=True)
    return probs


def by_kernel(iterations: int) -> np.ndarray:
    """The kernel of `infer_truth(method="dawid-skene-em")`, for a fixed number of iterations."""
    data, start = _on_device()
    with jax.enable_x64(True):
        nothing = jnp.zeros((ANNOTATORS, LABELS, LABELS))
        fixed = data, (nothing,), (nothing,), jnp.zeros(LABELS), jnp.asarray(-1.0)
        return np.asarray(em.climb(em_method.MODEL, start, *fixed, jnp.asarray(iterations)).probs)


def by_ability() -> np.ndarray:
    """The kernel of `infer_truth(method="ability")`, for a fixed number of iterations."""
    data, start = _on_device()
    with jax.enable_x64(True):
        cells = jnp.zeros((ANNOTATORS, LABELS, LABELS))
        centre = jnp.asarray(ability.shared_centre(LABELS))
        first = jnp.ones(ANNOTATORS), jnp.zeros((ANNOTATORS, LABELS)), cells, centre, cells
        fixed = data, first, (cells,), jnp.ones(LABELS), jnp.asarray(-1.0), jnp.asarray(ITERATIONS)
        return np.asarray(em.climb(ability.MODEL, start, *fixed).probs)


@cache
def _on_device() -> tuple[em.SparseAnnotations, jax.Array]:
    item, annotator, label = annotations()
    cell = annotator * LABELS + label
    with jax.enable_x64(True):
        indices = (jnp.asarray(part, jnp.int32) for part in (item, annotator, label, cell))
        data = em.SparseAnnotations(*indices, jnp.ones(ANNOTATIONS), jnp.zeros((ITEMS, LABELS)))
        votes = jnp.full((ITEMS, LABELS), 1e-9).at[item, label].add(1.0)
        return data, votes / votes.sum(1, keepdims=True)


def dawid_skene() -> Section:
    """Time of an iteration: that of eleven, less that of one, over ten (but for NumPy, which has no start-up)."""
    same = np.abs(by_kernel(3) - by_bincount(3)).max()
    works = [
        Work("NumPy bincount", lambda: by_bincount(ITERATIONS), per=ITERATIONS),
        Work(
            "**Dawid-Skene EM** kernel",
            lambda: by_kernel(ITERATIONS),
            "<= 0.3",
            per=ITERATIONS,
        ),
        Work("**ability** kernel", by_ability, per=ITERATIONS),
    ]
    skipped = []
    crowdkit = optional("crowdkit.aggregation")
    if crowdkit:
        import pandas

        item, annotator, label = annotations()
        frame = pandas.DataFrame({"task": item, "worker": annotator, "label": label})
        peer = crowdkit.DawidSkene
        works.append(Work("crowd-kit DawidSkene", lambda: peer(n_iter=2, tol=0.0).fit(frame).probas_, per=2))
    else:
        skipped.append("crowd-kit")
    text = (
        f"{ANNOTATIONS:,} annotations, {ITEMS:,} items, {ANNOTATORS:,} annotators, {LABELS} labels; an iteration "
        f"in float64. After three iterations the class probabilities of ours and NumPy's differ by {same:.0e} at most "
        "(NumPy's adds 1e-9 to every count)."
    )
    return Section("Dawid-Skene by EM, an iteration", text, works, rounds=3, skipped=skipped)


def posterior() -> Section:
    """Posterior draws of the truth, in a process of its own."""
    works = []
    for method in ("dirichlet", "pooled"):
        process = Process(DRAWS.format(method=method))
        works.append(Work(f"**infer_truth**, {method}", process, "< 3 minutes, < 2 GB", note=process.memory))
    text = (
        f"{ANNOTATIONS:,} annotations, {ITEMS:,} items, {ANNOTATORS:,} annotators, {LABELS} labels, given by name; the "
        "defaults of both estimands, a process each, imports and compilation included. The draws that are kept take "
        "at most 256 MiB."
    )
    return Section("Posterior draws of the truth", text, works, rounds=1, warm_up=False)


def sampled() -> Section:
    """The methods that sample by NUTS, in a process of its own each."""
    works = [Work("python -c 'import jax, numpyro, arviz'", Process("import jax, numpyro, arviz"))]
    for method in ("ordinal", "dawid-skene", "hierarchical-dawid-skene"):
        goal = "<= 20 s" if method == "ordinal" else ""
        works.append(Work(f"**infer_truth**, {method}", Process(SAMPLED.format(method=method)), goal))
    text = (
        "300 items, 6 annotators who all answer, 5 ordered labels; the defaults, a process each, with imports and "
        "compilation. Each must converge. Processor time."
    )
    return Section("Truth by NUTS", text, works, rounds=1, warm_up=False, clock=of_processes)
