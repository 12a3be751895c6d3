"""Loaders: what evaluation harnesses and annotation tools write, as scores, predictions or annotations.

Every loader reads files only (nothing is unpickled or evaluated), checks them as hostile input, and aligns by name:
items that are not the same under one name are dropped for all models, and `audit` counts them and what each model
lacks. What cannot be used is an `InputError`.
"""

from probtruth.io.loaders.annotation_tools import (
    read_argilla,
    read_chaosnli,
    read_doccano,
    read_label_studio,
    read_labelbox,
    read_lewidi,
    read_potato,
    read_prodigy,
)
from probtruth.io.loaders.helm import read_helm
from probtruth.io.loaders.inspect_logs import read_inspect
from probtruth.io.loaders.lm_eval import read_lm_eval_choices, read_lm_eval_samples
from probtruth.io.loaders.results import read_alpaca_eval, read_every_eval_ever, read_promptfoo

__all__ = (
    "read_alpaca_eval",
    "read_argilla",
    "read_chaosnli",
    "read_doccano",
    "read_every_eval_ever",
    "read_helm",
    "read_inspect",
    "read_label_studio",
    "read_labelbox",
    "read_lewidi",
    "read_lm_eval_choices",
    "read_lm_eval_samples",
    "read_potato",
    "read_prodigy",
    "read_promptfoo",
)
