"""The true class of each item from two kinds of evidence: its annotators, and the forecasts that are to be judged."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.kernels.shapes import ItemLabel, ModelItem, ModelItemLabel
from probtruth.scoring.align import Aligned
from probtruth.scoring.log_pool import Features, LogPool, covariances, features_of, fit_log_pool, pooled, posterior
from probtruth.scoring.score import score_aligned
from probtruth.truth.fit import INDEPENDENT, class_draws
from probtruth.types import Scores, Truth
from probtruth.types.arguments import ClassEvidence

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


@dataclass(frozen=True, eq=False)
class PoolView:
    """One likelihood of the annotations joined with the pool that was fitted under it."""

    pool: LogPool
    slopes: Float[np.ndarray, "item feature"]
    probs: ItemLabel
    features: Features

    def influence(self, label_values: ModelItemLabel) -> ModelItem:
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
class Evidence:
    """A truth under the evidence that was asked for, and the predictions aligned with it.

    `views` are those of the annotations that the truth is the mean of, where the predictions have informed it;
    `cautions` say what it leaves out.
    """

    truth: Truth
    aligned: Aligned
    views: tuple[PoolView, ...] = ()
    cautions: tuple[str, ...] = ()

    def scores(self, rule: object, floor: object) -> Scores:
        """The scores of the predictions against the truth."""
        return self.behind(score_aligned(self.aligned, rule, floor))

    def behind(self, scores: Scores) -> Scores:
        """The scores with what fitted weights move them by, and what the evidence leaves out."""
        labels = scores.labels
        if labels is None:  # of a distance to vote shares
            return scores
        influence = None
        if self.views:
            losses = to_host(labels.losses)
            influence = np.mean([view.influence(losses) for view in self.views], axis=0)
        return replace(scores, influence=influence, cautions=self.cautions)


def on_evidence(truth: Truth, aligned: Aligned, evidence: str, seed: int) -> Evidence:
    """The truth under the evidence that is asked for; without the models where no pool of them can be fitted.

    "auto" leaves the choice to the truth and the number of models, never to how the predictions are read.
    """
    several = len(aligned.models) > 1
    wanted = check.literal(evidence, ClassEvidence, "evidence")
    if wanted == "auto":
        inferred = truth.estimand == "class" and truth.annotations is not None
        wanted = "annotators-and-models" if inferred and several else "annotators"
    if wanted != "annotators":
        if not several:
            got = "evidence of one model for the truth that judges it"
            raise InputError(got, "annotators alone, or several models", "Leave evidence out.")
        informed = informed_by(truth, aligned, seed)
        if informed is not None:
            return informed
    unsure = False
    if aligned.estimand == "class" and several:
        probs = to_host(aligned.truth)
        unsure = bool(((probs > 0) & (probs < 1)).any())
    if not unsure:
        return Evidence(truth, aligned)
    return Evidence(truth, aligned, cautions=(UNKNOWN_ORIGIN if truth.annotations is None else ANNOTATORS_ALONE,))


# t_ik is proportional to (q_ik / pi_k) g_ik: q is the posterior from annotators alone, pi its class marginals, so
# that q/pi is the likelihood of the annotations; g is the logarithmic pool prod_m p_mik^(w_m) pi_k^v, whose weights
# maximise the likelihood of all annotations (Satopaa et al. 2014, doi:10.1016/j.ijforecast.2013.09.009; Raykar et
# al. 2010, JMLR 11:1297-1322). A posterior from few or poor annotators is drawn towards the marginals, on every
# item and whatever the models know of it; expected losses under it punish whoever is sharp and right. It is wrong
# where a model errs together with the annotators given the class, as one that was trained on these annotations.
# The method `pooled` has a second posterior, of annotators who err independently; the two err in opposite
# directions here, and the result is the mean of both.
def informed_by(truth: Truth, predictions: Aligned, seed: int) -> Evidence | None:
    """The class posterior given the annotators and the predictions together; None where no pool can be fitted."""
    if truth.estimand != "class":
        raise InputError(
            f"evidence of models for the estimand {truth.estimand!r}",
            "the estimand 'class'",
            "Models say nothing of how annotators would answer; leave evidence out.",
        )
    aligned = predictions.on_host()
    own = to_host(truth.probs)
    inferred = [(own, own.mean(0) if truth.marginals is None else truth.marginals)]
    if INDEPENDENT in truth.evidence:
        independent = truth.evidence[INDEPENDENT]
        inferred.append((independent, independent.mean(0)))
    # an order of the models that depends on what they predict, not on their names or on the order of the items
    totals = [np.sort((aligned.truth * np.exp(logs.astype(np.float64))).sum(1)) for logs in aligned.log_probs]
    order: Any = np.argsort([np.nansum(row) for row in totals], kind="stable")
    views: list[PoolView] = []
    for probs, marginals in inferred:
        frequencies = np.zeros(len(aligned.labels))
        frequencies[aligned.columns] = marginals
        view = _view(aligned.of_truth(probs), frequencies, aligned.log_probs[order])
        if view is None:
            return None
        views.append(view)
    table = own.astype(np.float64)
    table[aligned.rows] = np.mean([view.probs for view in views], axis=0)[:, aligned.columns]
    weights = np.mean([view.pool.weights for view in views], axis=0).tolist()
    named = dict(sorted(zip((aligned.models[model] for model in order), weights, strict=False)))
    informed = replace(
        truth,
        probs=table,
        draws=None if truth.draws is None else class_draws(table, len(truth.draws), seed),
        diagnostics={**truth.diagnostics, "evidence": "annotators and models", "model_weights": named},
        uninformed=truth,
    )
    return Evidence(informed, predictions.against(informed), tuple(views))


def _view(inferred: ItemLabel, marginals: np.ndarray, log_probs: ModelItemLabel) -> PoolView | None:
    """The class posterior of annotators, joined with the models; None where no pool can be fitted."""
    likelihood = np.where(marginals > 0, inferred / np.where(marginals > 0, marginals, 1), inferred)
    features = features_of(log_probs, marginals)
    order = np.lexsort([*features[0].T[::-1], *likelihood.T[::-1]])  # the order of the items moves no digit
    pool = fit_log_pool(likelihood[order], features[:, order])
    if pool is None:
        return None
    forecast = pooled(features, pool.weights)
    probs = posterior(likelihood, forecast)
    slopes = np.einsum("ik,fik->if", probs - forecast, features, optimize=True)
    return PoolView(pool, slopes, probs, features)
