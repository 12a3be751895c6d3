"""Results to report on, without sampling: normal approximations of paired differences, seeded."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from probtruth import demo, infer_truth
from probtruth.comparison import compare as comparison
from probtruth.line.labelled import Labelled, Options, OtherEstimand
from probtruth.line.result import Result
from probtruth.scoring.align import align
from probtruth.scoring.rules import get_rule
from probtruth.types import Comparison, LabelsBehind, RuleFacts, Scores, Truth
from probtruth.types.pairs import Pair, Rank

PASSING = {"max_rhat": 1.001, "min_ess": 4200.0, "divergences": 0}
ODD_NAMES = ("<script>alert(1)</script>", "שלום עולם", "😀 👩‍🔬 & co | *x* $y$", "long " * 60, "=1+1\u202egnp.exe")


def compare(scores: Scores, rope: float | None, diagnostics: dict[str, Any]) -> Comparison:
    found = comparison.compare(scores, rope=rope, engine="exact")
    settings = {**found.settings, "engine": "nuts", "draws": 2500}
    return replace(found, diagnostics=diagnostics, settings=settings)


@cache
def of_class() -> Truth:
    """The demo's truth under the other estimand."""
    return replace(infer_truth(demo.load()[0], "dawid-skene-em", draws=0), method="other")


def demo_result(names: tuple[str, ...] | None = None, rope: float | None = 0.01, **changes: Any) -> Result:
    """The demo data under vote shares and the log rule."""
    annotations, predictions = demo.load()
    if names is not None:
        predictions = replace(predictions, models=names)
    counts = annotations.counts()
    shares = counts / counts.sum(1, keepdims=True)
    truth = Truth(
        shares, annotations.index, "distribution", "vote-share", shares, counts.sum(1), annotations=annotations
    )
    losses = -predictions.log_probs
    entropy = -np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1)), 0).sum(1).mean()
    scores = Scores(
        np.einsum("ik,mik->mi", shares, losses),
        predictions.models,
        annotations.index.items,
        "log",
        known=RuleFacts(proper=True, entropy=float(entropy)),
        labels=LabelsBehind(losses, shares, "distribution", shares, counts.sum(1)),
    )
    diagnostics = changes.pop("diagnostics", PASSING)
    comparison = compare(scores, rope, diagnostics)
    other = OtherEstimand(of_class(), comparison, ())
    aligned = align(predictions, truth)
    labelled = with_other(Labelled(truth, truth, aligned, scores, comparison, Options(get_rule("log"))), other)
    return Result(scores, comparison, (), labelled, **{"note": demo.NOTE, **changes})


def bare_result(
    n_models: int = 3, n_items: int = 60, rope: float | None = None, higher_is_better: bool = False
) -> Result:
    """Bare scores of models that are each a little worse than the one before."""
    rng = np.random.default_rng(n_models)
    values = rng.normal(size=(n_models, n_items)) * 0.3 + np.linspace(0, 0.4, n_models)[:, None]
    scores = Scores(
        1 - values if higher_is_better else values,
        tuple(f"model-{number:02d}" for number in range(n_models)),
        tuple(map(str, range(n_items))),
        "accuracy" if higher_is_better else "seconds",
        higher_is_better=higher_is_better,
    )
    return Result(scores, compare(scores, rope, PASSING), ())


def of_scores(models: dict[str, Any], higher_is_better: bool, **options: Any) -> Result:
    """A comparison of columns of scores, one a model."""
    values = np.array([*models.values()], np.float64)
    scores = Scores(values, tuple(models), tuple(map(str, range(values.shape[1]))), "score", higher_is_better)
    return Result.of(comparison.compare(scores, engine="exact", **options))


def rewrite(result: Result, **changes: Any) -> Result:
    """The result with other fields of its comparison; rows of pairs and ranks by the names of their fields."""
    for name, kind in (("pairs", Pair), ("ranks", Rank)):
        if name in changes:
            changes[name] = [kind(**row) for row in changes[name]]
    return replace(result, comparison=replace(result.comparison, **changes))


def with_other(labelled: Labelled, other: OtherEstimand | None) -> Labelled:
    """The verdicts as if these had been computed."""
    vars(labelled).update(other=other, method=None, doubt=None, bounded=None)
    return labelled


def relabel(result: Result, truth: Truth | None = None) -> Result:
    """The result under another truth, without the verdict under the other estimand."""
    labelled = replace(result.labelled, truth=truth or result.labelled.truth)
    return replace(result, labelled=with_other(labelled, None))


@pytest.fixture(scope="session")
def result() -> Result:
    return demo_result()


@pytest.fixture(scope="session")
def odd() -> Result:
    """Four models with names that could break a page, a table or a terminal."""
    return demo_result(ODD_NAMES[:3] + ODD_NAMES[4:])


@pytest.fixture(scope="session")
def make() -> dict[str, Callable[..., Result]]:
    return {"demo": demo_result, "bare": bare_result, "rewrite": rewrite, "relabel": relabel}
