"""The names that options of this part of the package take."""

from typing import Literal

Estimand = Literal["distribution", "class"]
"""What a truth is about: how annotators would answer, or which label is the one true class."""

MethodName = Literal[
    "vote-share",
    "dirichlet",
    "dirichlet-mixture",
    "annotator-effects",
    "majority",
    "dawid-skene-em",
    "dawid-skene",
    "hierarchical-dawid-skene",
    "ordinal",
    "one-coin",
    "mace",
    "glad",
    "ability",
    "perceived-class",
    "pooled",
]
"""The truth methods."""

AgreementMeasure = Literal["krippendorff", "fleiss", "cohen", "percentage"]
"""Measures of agreement."""

MeasurementLevel = Literal["nominal", "ordinal", "interval", "ratio"]
"""Levels of measurement of Krippendorff's alpha."""

KappaWeights = Literal["linear", "quadratic"]
"""How weighted kappa counts a disagreement, in the distance of the labels' ranks."""

HumanRule = Literal["zero-one", "brier"]
"""Rules under which a hard answer of a human has a finite loss."""
