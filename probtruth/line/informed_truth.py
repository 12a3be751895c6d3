"""The true class of each item from two kinds of evidence: its annotators, and the forecasts that are to be judged."""

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.scoring.align import Aligned, AlignedOnHost, align
from probtruth.scoring.log_pool import LogPool, covariances, features_of, fit_log_pool, pooled, posterior
from probtruth.scoring.score import score_aligned
from probtruth.truth.fit import INDEPENDENT, class_draws
from probtruth.types import Predictions, Scores, Truth
from probtruth.types.arguments import ClassEvidence

EVIDENCE = get_args(ClassEvidence.__value__)  # What the classes of the items may be inferred from
FITTED_ON = 50_000  # Items that the pool is fitted on at most, evenly spread

LEANING = (
    "the less sure model looks better against them, and in eight of nine simulation settings intervals held the true "
    "difference in no data set (docs/validity.md)"
)
EXPERTS = "or give expert labels (gold=; command line: --gold)"
ANNOTATORS_ALONE = (
    f"the classes rest on annotators alone: {LEANING}; leave evidence out, so that the models' forecasts count as "
    f"evidence too, {EXPERTS}"
)  # Said of inferred classes that judge several models without their forecasts
UNKNOWN_ORIGIN = (
    f"nothing says what these class probabilities rest on: if on annotators alone, {LEANING}; evaluate the annotations "
    f"themselves, {EXPERTS}"
)  # The same of classes from elsewhere


def informed_truth(truth: Truth, predictions: Predictions, seed: int = 0) -> Truth:
    """The class posterior given the annotators and the predictions together; the truth as it was where none fits."""
    # t_ik is proportional to (q_ik / pi_k) g_ik: q is the posterior from annotators alone, pi its class marginals, so
    # that q/pi is the likelihood of the annotations; g is the logarithmic pool prod_m p_mik^(w_m) pi_k^v, whose weights
    # maximise the likelihood of all annotations (Satopaa et al. 2014, doi:10.1016/j.ijforecast.2013.09.009; Raykar et
    # al. 2010, JMLR 11:1297-1322). A posterior from few or poor annotators is drawn towards the marginals, on every
    # item and whatever the models know of it; expected losses under it punish whoever is sharp and right. It is wrong
    # where a model errs together with the annotators given the class, as one that was trained on these annotations.
    # The method `pooled` has a second posterior, of annotators who err independently; the two err in opposite
    # directions here, and the result is the mean of both.
    informed = informed_by(truth, align(predictions, truth).on_host(), seed)
    return truth if informed is None else informed.truth


def evidence_for(evidence: str, truth: Truth, n_models: int) -> str:
    """What classes are inferred from, where "auto" leaves the choice: never on how the predictions are read."""
    if check.one_of(evidence, EVIDENCE, "evidence") != "auto":
        return evidence
    inferred = truth.estimand == "class" and truth.annotations is not None
    return "annotators-and-models" if inferred and n_models > 1 else "annotators"


@dataclass(frozen=True, eq=False)
class OnEvidence:
    """A truth under the evidence that was asked for, the predictions aligned with it, and what it leaves out."""

    truth: Truth
    aligned: Aligned
    informed: "InformedTruth | None" = None
    cautions: tuple[str, ...] = ()


def on_evidence(truth: Truth, aligned: Aligned, evidence: str, seed: int) -> OnEvidence:
    """The truth under the evidence that is asked for; without the models where no pool of them can be fitted."""
    evidence = evidence_for(evidence, truth, len(aligned.models))
    if evidence == "annotators":
        return OnEvidence(truth, aligned, cautions=_cautions(truth, aligned))
    if len(aligned.models) == 1:
        raise InputError(
            "evidence of one model for the truth that judges it",
            "annotators alone, or several models",
            "Leave evidence out.",
        )
    informed = informed_by(truth, aligned.on_host(), seed)
    if informed is None:
        return OnEvidence(truth, aligned, cautions=_cautions(truth, aligned))
    return OnEvidence(informed.truth, aligned.against(informed.truth), informed)


@dataclass(frozen=True, eq=False)
class ScoredTruth:
    """A truth, the predictions aligned with it, and their scores."""

    truth: Truth
    aligned: Aligned
    scores: Scores


def score_on_evidence(
    truth: Truth, aligned: Aligned, evidence: str, rule: object, floor: object, seed: int
) -> ScoredTruth:
    """The truth under the evidence that is asked for, and the scores against it."""
    used = on_evidence(truth, aligned, evidence, seed)
    scores = score_aligned(used.aligned, rule, floor)
    behind = scores.labels
    if behind is None:  # of a distance to vote shares
        return ScoredTruth(used.truth, used.aligned, scores)
    influence = None if used.informed is None else used.informed.influence(to_host(behind.losses))
    scores = replace(scores, labels=replace(behind, influence=influence), cautions=used.cautions)
    return ScoredTruth(used.truth, used.aligned, scores)


def _cautions(truth: Truth, aligned: Aligned) -> tuple[str, ...]:
    """What a comparison against classes says that no forecast informed; nothing of classes that are certain."""
    if aligned.estimand != "class" or len(aligned.models) < 2:
        return ()
    probs = to_host(aligned.truth)
    certain = (probs == 0) | (probs == 1)
    if certain.all():
        return ()
    return (UNKNOWN_ORIGIN if truth.annotations is None else ANNOTATORS_ALONE,)


@dataclass(frozen=True, eq=False)
class PoolView:
    """One likelihood of the annotations joined with the pool that was fitted under it."""

    pool: LogPool
    slopes: Float[np.ndarray, "item feature"]
    probs: Float[np.ndarray, "item label"]
    features: Float[np.ndarray, "feature item label"]

    def influence(self, label_values: Float[np.ndarray, "model item label"]) -> Float[np.ndarray, "model item"]:
        """What each item, through the pool's weights, moves a model's mean score by, times the number of items."""
        losses = np.where(self.probs > 0, label_values, 0.0)
        lacking = np.isnan(losses)
        finite = (np.isfinite(losses) | lacking).all((1, 2))
        losses = np.where(finite[:, None, None] & ~lacking, losses, 0.0)
        # a mean over the items that a model has stands for all
        share = 1 - np.isnan(label_values[..., 0]).mean(1)
        moved = covariances(self.probs, losses, self.features) / share[:, None]
        effect: np.ndarray = (self.slopes @ np.linalg.solve(self.pool.precision, moved.T)).T
        return effect - effect.mean(1, keepdims=True)


@dataclass(frozen=True, eq=False)
class InformedTruth:
    """A truth that the predictions have informed, and the views that it is the mean of."""

    truth: Truth
    views: tuple[PoolView, ...]

    def influence(self, label_values: Float[np.ndarray, "model item label"]) -> Float[np.ndarray, "model item"]:
        """The mean of the views' influences."""
        mean: np.ndarray = np.mean([view.influence(label_values) for view in self.views], axis=0)
        return mean


def informed_by(truth: Truth, aligned: AlignedOnHost, seed: int) -> InformedTruth | None:
    """What `informed_truth` gives of aligned predictions, with its views; None where no pool can be fitted."""
    if truth.estimand != "class":
        raise InputError(
            f"evidence of models for the estimand {truth.estimand!r}",
            "the estimand 'class'",
            "Models say nothing of how annotators would answer; leave evidence out.",
        )
    own = to_host(truth.probs)
    inferred = [own, truth.evidence[INDEPENDENT]] if INDEPENDENT in truth.evidence else [own]
    marginals = [own.mean(0) if truth.marginals is None else truth.marginals, *(t.mean(0) for t in inferred[1:])]
    order = _models_in_order(aligned.log_probs, aligned.truth)
    views = [
        _view(aligned.of_truth(probs), _widened(freq, aligned.columns, len(aligned.labels)), aligned.log_probs[order])
        for probs, freq in zip(inferred, marginals, strict=True)
    ]
    fitted = tuple(view for view in views if view is not None)
    if len(fitted) < len(views):
        return None
    table = own.astype(np.float64)
    table[aligned.rows] = np.mean([view.probs for view in fitted], axis=0)[:, aligned.columns]
    weights = np.mean([view.pool.weights for view in fitted], axis=0).tolist()
    named = dict(sorted(zip((aligned.models[model] for model in order), weights, strict=False)))
    informed = replace(
        truth,
        probs=table,
        draws=None if truth.draws is None else class_draws(table, len(truth.draws), seed),
        diagnostics={**truth.diagnostics, "evidence": "annotators and models", "model_weights": named},
    )
    return InformedTruth(informed, fitted)


def _view(
    inferred: Float[np.ndarray, "item label"],
    marginals: Float[np.ndarray, " label"],
    log_probs: Float[np.ndarray, "model item label"],
) -> PoolView | None:
    """The class posterior of annotators, joined with the models; None where no pool can be fitted."""
    likelihood = np.where(marginals > 0, inferred / np.where(marginals > 0, marginals, 1), inferred)
    features = features_of(log_probs, marginals)
    chosen = _fitted_items(likelihood, features)
    pool = fit_log_pool(likelihood[chosen], features[:, chosen])
    if pool is None:
        return None
    forecast = pooled(features, pool.weights)
    probs = posterior(likelihood, forecast)
    slopes = np.zeros((len(probs), len(features)))
    slopes[chosen] = np.einsum("ik,fik->if", (probs - forecast)[chosen], features[:, chosen], optimize=True)
    return PoolView(pool, slopes, probs, features)


def _widened(known: Float[np.ndarray, " known"], columns: Int[np.ndarray, " known"], size: int) -> np.ndarray:
    """Values at their columns; 0 elsewhere."""
    wide = np.zeros(size)
    wide[columns] = known
    return wide


def _models_in_order(
    log_probs: Float[np.ndarray, "model item label"], likelihood: Float[np.ndarray, "item label"]
) -> Int[np.ndarray, " model"]:
    """An order of the models that depends on what they predict, not on their names or on the order of the items."""
    totals = [np.sort((likelihood * np.exp(logs.astype(np.float64))).sum(1)) for logs in log_probs]
    return np.argsort([np.nansum(row) for row in totals], kind="stable")


def _fitted_items(
    likelihood: Float[np.ndarray, "item label"], features: Float[np.ndarray, "feature item label"]
) -> Int[np.ndarray, " chosen"]:
    """The items that the pool is fitted on, in an order of their content; evenly spread where there are many."""
    order = np.lexsort([*features[0].T[::-1], *likelihood.T[::-1]])
    if len(order) <= FITTED_ON:
        return order
    return order[np.linspace(0, len(order) - 1, FITTED_ON).astype(np.int64)]
