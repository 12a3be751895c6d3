"""Whether higher or lower scores are better: from the name of a known metric or from the user, never assumed."""

import numpy as np

from probtruth import check
from probtruth.errors import InputError

# Metrics for which higher is better.
HIGHER = frozenset({
    "acc", "acc_bytes", "acc_mutual_info", "acc_norm", "accuracy", "auc", "auprc", "auroc", "average_precision",
    "balanced_accuracy", "bert_score", "bertscore", "bleu", "bleu_1", "bleu_4", "bleu_acc", "bleu_max", "bleurt",
    "chain_of_thought_correctness", "chrf", "comet", "contains", "correct", "correctness", "em", "exact",
    "exact_match", "f1", "f1_score", "ifeval_strict_accuracy", "iou", "jaccard", "kappa", "likelihood",
    "log_likelihood", "loglikelihood", "macro_f1", "map", "math_verify", "matthews_corrcoef", "mc1", "mc2", "mcc",
    "merit", "meteor", "micro_f1", "mrr", "ndcg", "ndcg@10", "pass@1", "pass_rate", "precision", "prefix_exact_match",
    "prompt_level_loose_acc", "prompt_level_strict_acc", "quasi_exact_match", "quasi_prefix_exact_match", "r2",
    "recall", "reward", "roc_auc", "rouge", "rouge1", "rouge1_acc", "rouge2", "rouge2_acc", "rouge_1", "rouge_2",
    "rouge_l", "rougel", "rougel_acc", "rougelsum", "rr@10", "success", "success_rate", "top_1_accuracy",
    "top_5_accuracy", "utility", "win_rate",
})  # fmt: skip
# Metrics for which lower is better.
LOWER = frozenset({
    "absolute_error", "bits_per_byte", "brier", "brier_score", "byte_perplexity", "calibration_error", "cer", "cost",
    "cross_entropy", "crossentropy", "distance", "ece", "edit_distance", "error", "error_rate", "hinge_loss",
    "inference_runtime", "latency", "log_loss", "logloss", "logprob_per_byte_loss", "loss", "mae", "mape",
    "mean_absolute_error", "mean_squared_error", "mse", "negative_log_likelihood", "nll", "perplexity", "ppl",
    "regret", "rmse", "squared_error", "ter", "wer", "word_perplexity", "zero_one_loss",
})  # fmt: skip

# Metrics whose values lie between 0 and 1.
PROPORTIONS = frozenset({
    "acc", "acc_norm", "accuracy", "correct", "em", "exact", "exact_match", "pass@1", "pass_rate", "success",
    "success_rate", "win_rate",
})  # fmt: skip


def known(metric: str) -> bool | None:
    """Whether higher is better, by the name of the metric; None if the name is unknown.

    Case, spaces and hyphens do not matter, nor does text after a comma (a filter of lm-evaluation-harness); `neg_` in
    front, as scikit-learn writes it, reverses a metric.

    >>> known("F1"), known("Brier score"), known("neg_log_loss"), known("score")
    (True, False, True, None)
    """
    plain = metric.split(",")[0].strip().lower().replace("-", "_").replace(" ", "_")
    if plain.startswith("neg_"):
        turned = known(plain.removeprefix("neg_"))
        return None if turned is None else not turned
    return True if plain in HIGHER else False if plain in LOWER else None


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
