"""Whether higher or lower scores are better: from the name of a known metric or from the user, never assumed."""

import re

import numpy as np

from probtruth import check
from probtruth.errors import InputError

METRICS = {
    "higher": """
    acc acc_norm accuracy auc auroc average_precision balanced_accuracy bleu bleurt chrf comet correct em
    exact_match f1 f1_score iou kappa log_likelihood loglikelihood macro_f1 mcc meteor micro_f1 mrr ndcg pass@1
    pass_rate precision prefix_exact_match quasi_exact_match r2 recall reward roc_auc rouge1 rouge2 rouge_l
    rougel success success_rate utility win_rate
    """,
    "lower": """
    brier brier_score calibration_error cer cost crps cross_entropy ece error error_rate log_loss logloss loss mae
    mape mse nll perplexity ppl rmse ter wer word_perplexity zero_one_loss
    """,
    "proportion": """
    acc acc_norm accuracy correct em exact_match pass@1 pass_rate success success_rate win_rate
    """,
}  # Known metrics: those for which higher is better, lower is better, and whose values lie between 0 and 1
# Those of which a percentage is so many points, since each value is a share of something, or a mean of shares.
SHARES = """
    auc auroc average_precision balanced_accuracy error error_rate f1 f1_score iou macro_f1 micro_f1 precision
    prefix_exact_match quasi_exact_match recall roc_auc zero_one zero_one_loss
"""
HIGHER, LOWER, PROPORTIONS = (frozenset(names.split()) for names in METRICS.values())


def known(metric: str) -> bool | None:
    """Whether higher is better, by the name of the metric; None if the name is unknown.

    Case, spaces and hyphens do not matter, nor does text after a comma (a filter of lm-evaluation-harness); `neg_` in
    front, as scikit-learn writes it, reverses a metric.

    >>> known("F1"), known("Brier score"), known("neg_log_loss"), known("score")
    (True, False, True, None)
    """
    plain = _plain(metric)
    if plain.startswith("neg_"):
        turned = known(plain.removeprefix("neg_"))
        return None if turned is None else not turned
    return True if plain in HIGHER else False if plain in LOWER else None


def is_share(rule: str) -> bool:
    """Whether the scores are shares by the name of their metric, or of the metric of every task (see `compare`)."""
    by_task = re.findall(r" by ([^;)]+)", rule)
    return all(_plain(metric) in PROPORTIONS or _plain(metric) in SHARES.split() for metric in by_task or [rule])


def _plain(metric: str) -> str:
    return metric.split(",")[0].strip().lower().replace("-", "_").replace(" ", "_")


def upward(metric: str, higher_is_better: object, where: str = "") -> bool:
    """Whether higher is better: as the caller says, else by the name of the metric."""
    if isinstance(higher_is_better, (bool, np.bool_)):
        return bool(higher_is_better)
    if higher_is_better is not None:
        hint = "True where more of the score is better."
        raise InputError(f"higher_is_better={check.quote(higher_is_better)}", "True or False", hint)
    by_name = known(metric)
    if by_name is None:
        raise InputError(
            f"the score {check.quote(metric)}",
            "to know whether more of it is better",
            "Say --higher-is-better or --lower-is-better (Python: higher_is_better=True or False). "
            "Only metrics of well-known names, such as accuracy or loss, need neither.",
            where,
        )
    return by_name
