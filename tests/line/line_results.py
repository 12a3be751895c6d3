"""Results to report on, without sampling: normal approximations of paired differences, seeded."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import xarray

from probtruth import demo, infer_truth
from probtruth.line.labelled import Labelled, Options, OtherEstimand
from probtruth.line.result import Result
from probtruth.scoring.align import align
from probtruth.scoring.rules import get_rule
from probtruth.types import Comparison, LabelsBehind, RuleFacts, Scores, Truth
from probtruth.types.pairs import Pair, Rank

PASSING = {"max_rhat": 1.001, "min_ess": 4200.0, "divergences": 0}
ODD_NAMES = ("<script>alert(1)</script>", "שלום עולם", "😀 👩‍🔬 & co | *x* $y$", "long " * 60, "=1+1\u202egnp.exe")


def compare(scores: Scores, rope: float | None, diagnostics: dict[str, Any]) -> Comparison:
    values, names = scores.values, scores.models
    means = values.mean(1)
    draws = np.random.default_rng(0).multivariate_normal(means, np.cov(values) / values.shape[1], 2000)
    order = draws.argsort(1).argsort(1)
    ranks = np.stack([(order == rank).mean(0) for rank in range(len(names))], 1)
    contrast = (draws - draws.mean(1, keepdims=True)).reshape(4, 500, len(names))
    regret = (draws - draws.min(1, keepdims=True)).mean(0)
    sign = -1 if scores.higher_is_better else 1

    pairs = []
    for a, b in combinations(sorted(range(len(names)), key=names.__getitem__), 2):
        d = values[a] - values[b]
        posterior = NormalDist(d.mean(), d.std(ddof=1) / math.sqrt(len(d)))
        p = posterior.cdf(0)
        pairs.append(
            {
                "a": names[a],
                "b": names[b],
                "difference": posterior.mean,
                "low": posterior.inv_cdf(0.025),
                "high": posterior.inv_cdf(0.975),
                "p_a_better": p,
                "p_equivalent": None if rope is None else posterior.cdf(rope) - posterior.cdf(-rope),
                "p_b_better": 1 - p,
                "p_a_better_rope": None if rope is None else posterior.cdf(-rope),
                "p_b_better_rope": None if rope is None else 1 - posterior.cdf(rope),
            }
        )
    rows = []
    for model in means.argsort(kind="stable"):
        half = 1.96 * values[model].std(ddof=1) / math.sqrt(values.shape[1])
        rows.append(
            {
                "model": names[model],
                "score": sign * means[model],
                "low": sign * means[model] - half,
                "high": sign * means[model] + half,
                "entropy": scores.known.entropy,
                "divergence": None if scores.known.entropy is None else means[model] - scores.known.entropy,
                "p_best": float(ranks[model, 0]),
                "expected_rank": float(ranks[model] @ np.arange(1, len(names) + 1)),
                "expected_regret": float(regret[model]),
            }
        )
    tree = xarray.DataTree.from_dict(
        {
            "/posterior": xarray.Dataset({"contrast": (("chain", "draw", "model"), contrast)}, {"model": list(names)}),
        }
    )
    tests = ("t", "t_p", "t_p_holm", "wilcoxon_p", "wilcoxon_p_holm")
    return Comparison(
        models=names,
        pairs=[Pair(**row) for row in pairs],
        ranks=[Rank(**row) for row in rows],
        estimand=f"mean paired difference of expected {scores.rule} scores over new items like these",
        rule=scores.rule,
        higher_is_better=scores.higher_is_better,
        rope=rope,
        seed=0,
        diagnostics=diagnostics,
        parts=lambda: {"items": 0.7, "labels": 0.3 if scores.labels is not None else None},
        tree=lambda: tree,
        tests=lambda: [{"a": row["a"], "b": row["b"], **dict.fromkeys(tests, 0.02)} for row in pairs],
        decisions={
            "rank_probability": [
                {"model": name, "probability": row.tolist()} for name, row in zip(names, ranks, strict=True)
            ],
            "credible_set": _best_set(dict(zip(names, ranks[:, 0].tolist(), strict=True))),
        },
        settings={"engine": "nuts", "draws": 2500, "floor": None},
    )


@cache
def of_class() -> Truth:
    """The demo's truth under the other estimand."""
    return replace(infer_truth(demo.load()[0], "dawid-skene-em", draws=0), method="other")


def _best_set(p_best: dict[str, float]) -> list[str]:
    """The fewest models that hold the best with probability 0.95."""
    order = sorted(p_best, key=p_best.__getitem__, reverse=True)
    return order[: int(np.searchsorted(np.cumsum([p_best[name] for name in order]), 0.95)) + 1]


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
        values,
        tuple(f"model-{number:02d}" for number in range(n_models)),
        tuple(map(str, range(n_items))),
        "accuracy" if higher_is_better else "seconds",
        higher_is_better=higher_is_better,
    )
    return Result(scores, compare(scores, rope, PASSING), ())


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
    assert result.labelled is not None
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
