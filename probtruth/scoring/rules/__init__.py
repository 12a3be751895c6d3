"""Scoring rules: named rules as values, families as functions that return a rule, and what a rule rewards."""

from probtruth.scoring.rules.families import beta, bregman, power, pseudospherical
from probtruth.scoring.rules.means import mean_scores
from probtruth.scoring.rules.named import (
    DISTANCES,
    NAMED,
    RULES,
    brier,
    get_rule,
    linear,
    log,
    manhattan,
    quadratic,
    ranked_probability,
    spherical,
    wasserstein,
    zero_one,
)
from probtruth.scoring.rules.proper import log_score_from_logits
from probtruth.scoring.rules.propriety import best_report, check_proper
from probtruth.scoring.rules.rule import ScoringRule
from probtruth.scoring.rules.scorers import soft_label_loss

__all__ = (
    "DISTANCES",
    "NAMED",
    "RULES",
    "ScoringRule",
    "best_report",
    "beta",
    "bregman",
    "brier",
    "check_proper",
    "get_rule",
    "linear",
    "log",
    "log_score_from_logits",
    "manhattan",
    "mean_scores",
    "power",
    "pseudospherical",
    "quadratic",
    "ranked_probability",
    "soft_label_loss",
    "spherical",
    "wasserstein",
    "zero_one",
)
