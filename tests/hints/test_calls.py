"""What a message proposes to write in Python is called: it must succeed, and mean what the message says."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hint_files import ITEMS, write_all
from sklearn.metrics import make_scorer

import probtruth as pt
from probtruth.errors import InputError, PosteriorError
from probtruth.io.formats import LabelReading
from probtruth.line.inputs import reference_of


@dataclass(frozen=True)
class Call:
    """A call that is refused, a part of its message, and the call that follows it with what it must give."""

    refused: Callable[[], object]
    says: str
    then: Callable[[], Any]
    means: Callable[[Any], bool]


def again(refused: partial[Any], says: str, means: Callable[[Any], bool]) -> Call:
    """A call that is refused, and again with the arguments that its message writes."""
    return Call(refused, says, partial(refused, **eval(f"dict({says})")), means)


def models(suffix: str = "") -> dict[str, str]:
    return {name: f"{name}{suffix}.csv" for name in ("sharp", "flat")}


def votes(**columns: list[object]) -> dict[str, list[object]]:
    return {"item": ["x", "x", "y", "y"], "annotator": ["a", "b"] * 2, "label": ["no", "yes", "no", "no"], **columns}


def board() -> dict[str, list[Any]]:
    return {"benchmark": ["t1", "t2", "t3"], "ours": [0.1, 0.2, 0.3], "theirs": [0.2, 0.1, 0.5]}


def long_scores(n_seeds: int = 1) -> dict[str, list[Any]]:
    rows = [(item, model, seed) for item in "xyz" for model in "ab" for seed in range(n_seeds)]
    values = np.random.default_rng(0).random(len(rows)).tolist()
    return {
        "item": [item for item, _, _ in rows],
        "model": [model for _, model, _ in rows],
        "seed": [seed for _, _, seed in rows],
        "score": values,
    }


def scores(**options: Any) -> pt.Scores:
    return pt.Scores.from_frame(long_scores(), higher_is_better=True, **options)


GROUPS = {f"u{at}": "gh"[at % 2] for at in range(6)}


def by_person() -> dict[str, list[Any]]:
    rows = [(item, who, model) for item in "vwxyz" for who in GROUPS for model in "ab"]
    item, who, model = zip(*rows, strict=True)
    score = np.random.default_rng(0).random(len(rows)).tolist()
    return {"item": list(item), "who": list(who), "model": list(model), "score": score}


PROBS = {"m": [[0.4, 0.6], [0.3, 0.7]], "n": [[0.5, 0.5], [0.2, 0.8]]}
CODES = pl.DataFrame({"item": ITEMS, "ann": [0, 1] * 12, "bob": [0, 1] * 12, "cy": [1, 0] * 12})
GRID = np.array([[1, 0, 2], [1, 1, 0], [0, 0, 1], [2, 2, 2]])
OF_TWO = {"m": {"cat": [0.7, 0.2], "dog": [0.3, 0.8]}, "n": {"cat": [0.5, 0.5], "dog": [0.5, 0.5]}}
NAMED_TWO = {name: {"item": ["x", "y"], **columns} for name, columns in OF_TWO.items()}
EVENTS = {name: {"item": ["x", "y"], "probability": columns["dog"]} for name, columns in OF_TWO.items()}
OF_MODELS = pd.concat([pd.DataFrame({"item": ["x", "y"], "model": name, **own}) for name, own in OF_TWO.items()])
OF_YES_AND_NO = pt.Annotations.from_long(votes()).index
EVENT = {"m": {"item": ["x", "y"], "yes": [2.0, -1.0]}}

PREDICTED = pt.Predictions.from_probs(PROBS)
TRUTH = pt.Truth.from_labels([0, 1], n_labels=2)
SEVERAL = {
    "item": [item for item in ITEMS for _ in "ab"],
    "annotator": ["a", "b"] * 24,
    "toxic": [0, 1, 1, 1] * 12,
    "insult": [0, 0, 0, 1] * 12,
}
SEVERAL_MODELS = {
    name: {"item": ITEMS, "toxic": [low, 0.9] * 12, "insult": [low, 0.4] * 12} for name, low in (("m", 0.2), ("n", 0.3))
}


def written_with_index(index: bool) -> str:
    table = pd.DataFrame({"item": ITEMS, "no": 0.5, "yes": 0.5})
    table[::-1].to_csv("exported.csv", index=index)
    return "exported.csv"


def saved_json(orient: Any) -> str:
    pd.DataFrame(long_scores()).to_json("saved.json", orient=orient)
    return "saved.json"


CALLS = {
    "percentages": again(
        partial(pt.read_predictions, models("-percent")),
        "kind='percent'",
        lambda read: bool(np.allclose(np.asarray(read.probs).sum(-1), 1)),
    ),
    "logits": again(
        partial(pt.read_predictions, models("-logits")),
        "kind='logits'",
        lambda read: read.models == ("sharp", "flat"),
    ),
    "rows that sum to less": again(
        partial(pt.read_predictions, models("-short")),
        "renormalise=True",
        lambda read: len(read.audit.renormalised) == 2,
    ),
    "the logit of an event": again(
        partial(pt.read_predictions, EVENT, pt.Annotations.from_long(votes()).index),
        "kind='logits'",
        lambda read: bool(np.asarray(read.probs)[0, 0, 1] > 0.8),
    ),
    "the percentage of an event": again(
        partial(pt.read_predictions, {"m": {"item": ["x", "y"], "yes": [80.0, 20.0]}}, OF_YES_AND_NO),
        "kind='percent'",
        lambda read: bool(np.allclose(np.asarray(read.probs)[0, :, 1], [0.8, 0.2])),
    ),
    "the probability of being chosen": Call(
        lambda: pt.evaluate(
            "labels.csv", models(), gold={"item": ITEMS[:12], "label": ["no", "yes"] * 6, "prob": [0.5] * 12}
        ),
        "Rename it 'probability' (command line: --gold FILE:COLUMN)",
        lambda: pt.evaluate(
            "labels.csv",
            models(),
            gold={"item": ITEMS[:12], "label": ["no", "yes"] * 6, "probability": [0.5] * 12},
            engine="exact",
        ),
        lambda result: result.truth.estimand == "class",
    ),
    "JSON that is no list of objects": Call(
        lambda: pt.read_scores(saved_json("columns")),
        "pandas.DataFrame.to_json(path, orient='records')",
        lambda: pt.read_scores(saved_json("records"), higher_is_better=True),
        lambda read: read.models == ("a", "b"),
    ),
    "a table of several models": Call(
        lambda: pt.evaluate(["cat", "dog"], OF_MODELS),
        "dict([*pandas.DataFrame.groupby(table, 'model')])",
        lambda: pt.evaluate(["cat", "dog"], dict([*OF_MODELS.groupby("model")]), engine="exact"),
        lambda result: result.comparison.ranks[0].model == "m",
    ),
    "words in one column": again(
        partial(pt.evaluate, {"item": ["x", "y"], "outcome": ["cat", "dog"]}, NAMED_TWO, engine="exact"),
        "label='outcome'",
        lambda result: result.comparison.ranks[0].model == "m",
    ),
    "numbers in one column": again(
        partial(pt.evaluate, {"item": ["x", "y"], "outcome": [0, 1]}, EVENTS, engine="exact"),
        "label='outcome'",
        lambda result: result.comparison.ranks[0].model == "m",
    ),
    "a column that is no annotator": again(
        partial(pt.read_annotations, CODES.with_row_index("row"), format="wide"),
        "annotators=['ann', 'bob', 'cy']",
        lambda read: read.index.annotators == ("ann", "bob", "cy"),
    ),
    "an array of logits": Call(
        lambda: pt.evaluate([0, 1], {"m": [[2.0, -1.0], [-3.0, 1.0]]}),
        "pt.Predictions.from_logits(models)",
        lambda: pt.evaluate([0, 1], pt.Predictions.from_logits({"m": [[2.0, -1.0], [-3.0, 1.0]]})),
        lambda result: bool((np.asarray(result.scores.values) < 0.1).all()),
    ),
    "which way scores count": Call(
        lambda: pt.read_scores("scores.csv"),
        "higher_is_better=True or False",
        lambda: [pt.read_scores("scores.csv", higher_is_better=way) for way in (True, False)],
        lambda both: [one.higher_is_better for one in both] == [True, False],
    ),
    "a percentage of a score": Call(
        lambda: pt.compare(pt.Scores.from_frame(long_scores(), higher_is_better=True), rope="2%", engine="exact"),
        "if you mean that, write rope=",
        lambda: pt.compare(scores(), rope=0.01, engine="exact"),
        lambda compared: compared.rope == 0.01,
    ),
    "whole numbers as counts": Call(
        lambda: pt.read_annotations(CODES),
        "read_annotations(table, format='counts')",
        lambda: pt.read_annotations(CODES, format="counts"),
        lambda read: read.index.labels == ("ann", "bob", "cy"),
    ),
    "whole numbers as answers": Call(
        lambda: pt.read_annotations(CODES),
        "read_annotations(table, format='wide')",
        lambda: pt.read_annotations(CODES, format="wide"),
        lambda read: read.index.annotators == ("ann", "bob", "cy") and read.index.labels == ("0", "1"),
    ),
    "an array of whole numbers as counts": Call(
        lambda: pt.evaluate(GRID, {"m": np.full((4, 3), 1 / 3)}),
        "Annotations.from_counts(array)",
        lambda: pt.evaluate(pt.Annotations.from_counts(GRID), {"m": np.full((4, 3), 1 / 3)}),
        lambda result: result.annotations is not None,
    ),
    "an array of whole numbers as answers": Call(
        lambda: pt.evaluate(GRID, {"m": np.full((4, 3), 1 / 3)}),
        "read_annotations(table, format='wide')",
        lambda: pt.read_annotations(GRID, format="wide"),
        lambda read: read.n_annotators == 3,
    ),
    "votes in an object of annotators": Call(
        lambda: pt.loaders.read_chaosnli("lewidi.jsonl", votes="annotations"),
        "pt.loaders.read_lewidi(path)",
        lambda: pt.loaders.read_lewidi("lewidi.jsonl"),
        lambda read: read.index.annotators == ("a", "b"),
    ),
    "counts without labels": Call(
        lambda: pt.loaders.read_chaosnli("positions.jsonl"),
        "pt.loaders.read_chaosnli(path, labels=['e', 'n', 'c'])",
        lambda: pt.loaders.read_chaosnli("positions.jsonl", labels=["e", "n", "c"]),
        lambda read: read.counts().tolist() == [[1, 2, 0], [1, 2, 1], [1, 2, 2]],
    ),
    "a question": again(
        partial(pt.loaders.read_label_studio, "export.json"),
        "question='mood'",
        lambda read: read.index.labels == ("bad", "good"),
    ),
    "a rule as a metric": Call(
        lambda: pt.compare_metric(models(), "labels.csv", "brier"),
        "rule='brier'",
        lambda: pt.evaluate("labels.csv", models(), rule="brier", engine="exact"),
        lambda result: result.to_dict()["rule"] == "brier",
    ),
    "a metric": again(
        partial(pt.loaders.read_helm, "helm"),
        "metric='exact_match'",
        lambda read: read.rule == "exact_match",
    ),
    "the metric of a task": again(
        partial(pt.loaders.read_lm_eval_samples, "logs", metric="acc"),
        "metric={'mt': 'bleu'}",
        lambda read: read.rule == "score (arc by acc; mt by bleu)",
    ),
    "tasks": Call(
        lambda: pt.loaders.read_lm_eval_samples("logs", metric={"mt": "ter"}),
        "tasks=[...]",
        lambda: pt.loaders.read_lm_eval_samples("logs", tasks=["arc"]),
        lambda read: read.rule == "acc",
    ),
    "a table for groups": Call(
        lambda: pt.compare(scores(), groups=pl.DataFrame({"item": ["x", "y", "z"], "group": ["g", "h", "h"]})),
        "groups=dict(zip(table['item'], table['group']))",
        lambda: pt.compare(scores(), groups=dict(zip("xyz", "ghh", strict=True)), engine="exact"),
        lambda compared: {row["group"] for row in compared.by_group().rows(named=True)} == {"g", "h"},
    ),
    "folds": again(
        partial(pt.compare, scores(), fold_correlation=0.1, engine="exact"),
        "replicates='folds'",
        lambda compared: len(compared.pairs) == 1,
    ),
    "replicates that items share": Call(
        lambda: pt.compare(scores(), replicates="crossed"),
        "Scores.from_frame(..., replicate=COLUMN)",
        lambda: pt.compare(
            pt.Scores.from_frame(long_scores(3), replicate="seed", higher_is_better=True),
            replicates="crossed",
            engine="exact",
        ),
        lambda compared: "replicates" in compared.estimand,
    ),
    "expert labels under opinions": again(
        partial(pt.evaluate, "labels.csv", models(), gold="gold.csv", estimand="distribution", engine="exact"),
        "estimand='class'",
        lambda result: result.truth.estimand == "class",
    ),
    "annotations in place of soft labels": Call(
        lambda: pt.score(models(), pt.read_annotations("labels.csv")),
        "infer_truth(annotations)",
        lambda: pt.score(models(), pt.infer_truth(pt.read_annotations("labels.csv"))),
        lambda scored: scored.models == ("sharp", "flat"),
    ),
    "a size of memory": again(
        partial(pt.read_predictions, models(), memory=-1),
        "memory=2e9",
        lambda read: read.models == ("sharp", "flat"),
    ),
    "bounds": Call(
        lambda: pt.monitor(long_scores(), higher_is_better=True),
        "bounds=(low, high)",
        lambda: pt.monitor(long_scores(), higher_is_better=True, bounds=(0, 1)),
        lambda watched: (watched.method, watched.bounds, watched.n_units) == ("betting", (0, 1), 3),
    ),
    "scores that nothing bounds": again(
        partial(pt.monitor, long_scores(), higher_is_better=True),
        "method='asymptotic'",
        lambda watched: watched.method == "asymptotic",
    ),
    "costs": Call(
        lambda: pt.plan(scores(), costs=3),
        "costs={'item': 1, 'annotation': 0.1}",
        lambda: pt.plan(scores(), costs={"item": 1}),
        lambda planned: planned is not None,
    ),
    "the number of labels": Call(
        lambda: pt.Truth.from_labels([0, 1]),
        "n_labels=...",
        lambda: pt.Truth.from_labels([0, 1], n_labels=2),
        lambda truth: truth.probs.tolist() == [[1, 0], [0, 1]],
    ),
    "an event": Call(
        lambda: pt.Truth.from_probs([0.4, 0.3]),
        "np.stack([1 - p, p], axis=1)",
        lambda: pt.Truth.from_probs(np.stack([1 - np.array([0.4, 0.3]), [0.4, 0.3]], axis=1)),
        lambda truth: truth.probs[:, 1].tolist() == [0.4, 0.3],
    ),
    "an index without a name": Call(
        lambda: pt.Predictions.from_probs(
            {"m": pd.DataFrame({"no": [0.4, 0.5], "yes": [0.6, 0.5]}, index=["x", None])}
        ),
        "reset_index(drop=True)",
        lambda: pt.Predictions.from_probs(
            {"m": pd.DataFrame({"no": [0.4, 0.5], "yes": [0.6, 0.5]}, index=["x", None]).reset_index(drop=True)}
        ),
        lambda read: read.index.positional_items,
    ),
    "items without annotations": Call(
        lambda: pt.infer_truth(pt.Annotations.from_counts([[1, 0], [0, 0]])),
        "`annotations.annotated()`",
        lambda: pt.infer_truth(pt.Annotations.from_counts([[1, 0], [0, 0]]).annotated()[0]),
        lambda truth: truth.n_items == 1,
    ),
    "gold by item": Call(
        lambda: pt.infer_truth(pt.Annotations.from_long(votes()), method="dawid-skene-em", gold=3),
        "gold={'item 7': 'yes'}",
        lambda: pt.infer_truth(pt.Annotations.from_long(votes()), method="dawid-skene-em", gold={"x": "yes"}),
        lambda truth: truth.probs[0].tolist() == [0, 1],
    ),
    "labels in no order": Call(
        lambda: pt.agreement.krippendorff_alpha(pt.Annotations.from_long(votes()), level="ordinal"),
        "order=[lowest, ..., highest]",
        lambda: pt.agreement.krippendorff_alpha(
            pt.Annotations.from_long(votes()), level="ordinal", order=["no", "yes"]
        ),
        lambda found: found is not None,
    ),
    "choices without their text": again(
        partial(pt.loaders.read_lm_eval_choices, "logs", normalise="characters", tasks="arc"),
        "normalise='none'",
        lambda both: both[0].models == ("large", "small"),
    ),
    "a column without a name": Call(
        lambda: pt.read_predictions({"m": written_with_index(True)}),
        "index=False",
        lambda: pt.read_predictions({"m": written_with_index(False)}),
        lambda read: read.index.labels == ("no", "yes"),
    ),
    "whole numbers as soft labels": Call(
        lambda: reference_of("whole.csv", {}, LabelReading(format="soft")),
        "read_annotations(path, format='counts')",
        lambda: pt.read_annotations("whole.csv", format="counts"),
        lambda read: read.index.labels == ("no", "yes"),
    ),
    "annotations beside scores of classes": Call(
        lambda: pt.compare(
            pt.score(models(), pt.infer_truth(pt.read_annotations("labels.csv"), method="majority")),
            annotations=pt.read_annotations("labels.csv"),
        ),
        "infer_truth(annotations, method='vote-share')",
        lambda: pt.compare(
            pt.score(models(), pt.infer_truth(pt.read_annotations("labels.csv"), method="vote-share")),
            annotations=pt.read_annotations("labels.csv"),
            engine="exact",
        ),
        lambda compared: "annotators" in compared.estimand,
    ),
    "a threshold without a use": again(
        partial(pt.expected_confusion, PREDICTED, TRUTH, response="sample", threshold=0.5),
        "response='threshold'",
        lambda found: found is not None,
    ),
    "a threshold that is none": again(
        partial(pt.expected_confusion, PREDICTED, TRUTH, response="threshold", threshold=7),
        "threshold=0.5",
        lambda found: found is not None,
    ),
    "a threshold for three labels": Call(
        lambda: pt.expected_confusion({"a": np.eye(3)}, pt.Truth.from_labels([0, 1, 2], 3), "threshold", threshold=0.5),
        "response='argmax'",
        lambda: pt.expected_confusion({"a": np.eye(3)}, pt.Truth.from_labels([0, 1, 2], 3), "argmax"),
        lambda found: found.accuracy[0] == 1.0,
    ),
    "means inside jit": Call(
        lambda: jax.jit(pt.rules.mean_scores)(jnp.array([[0.6, 0.4]]), jnp.array([[0.7, 0.3]])),
        "pt.log_score(probs, truth).mean()",
        lambda: jax.jit(lambda p, t: pt.log_score(p, t).mean())(jnp.array([[0.6, 0.4]]), jnp.array([[0.7, 0.3]])),
        lambda mean: 0.6 < float(mean) < 0.7,
    ),
    "a power of no profile": Call(
        lambda: pt.nelson.risk_profile(PREDICTED, TRUTH).at(0.3),
        "risk_profile(..., powers=[...])",
        lambda: pt.nelson.risk_profile(PREDICTED, TRUTH, powers=[0.3]).at(0.3),
        lambda means: means.shape == (2,),
    ),
    "a power that is none": Call(
        lambda: pt.nelson.risk_profile(PREDICTED, TRUTH, powers=[float("nan")]),
        "powers=[...]",
        lambda: pt.nelson.risk_profile(PREDICTED, TRUTH, powers=[0.3]),
        lambda profile: 0.3 in profile.powers,
    ),
    "classes in place of probabilities": Call(
        lambda: pt.rules.soft_label_loss("log")(["no", "yes"], ["no", "yes"]),
        "response_method='predict_proba' to make_scorer",
        lambda: make_scorer(pt.rules.soft_label_loss("log"), response_method="predict_proba", greater_is_better=False),
        lambda scorer: callable(scorer),
    ),
    "bounds of something else": again(
        partial(pt.monitor, long_scores(), higher_is_better=True, bounds=3),
        "bounds=(0, 1)",
        lambda watched: watched.bounds == (0, 1),
    ),
    "labels without a scale": Call(
        lambda: pt.agreement.alternative_annotator_test(
            pt.read_annotations("labels.csv"), pt.read_predictions(models()), alignment="rmse", least_items=2
        ),
        "alignment='accuracy'",
        lambda: pt.agreement.alternative_annotator_test(
            pt.read_annotations("labels.csv"), pt.read_predictions(models()), alignment="accuracy", least_items=2
        ),
        lambda test: test is not None,
    ),
    "what integers mean": Call(
        lambda: pt.evaluate([0, 1], {"m": OF_TWO["m"], "n": dict(reversed(OF_TWO["n"].items()))}),
        "labels=[...] in the order",
        lambda: pt.evaluate([0, 1], OF_TWO, labels=["cat", "dog"], engine="exact"),
        lambda result: result.scores.values[0].tolist() == [-np.log(0.7), -np.log(0.8)],
    ),
    "a label that is called otherwise": Call(
        lambda: pt.evaluate_labels(SEVERAL, SEVERAL_MODELS, labels=["toxicity"]),
        "in all tables: labels=[...]",
        lambda: pt.evaluate_labels(SEVERAL, SEVERAL_MODELS, labels=["toxic"], engine="exact"),
        lambda result: list(result.by_label) == ["toxic"],
    ),
    "several labels": again(
        partial(pt.evaluate_labels, SEVERAL, SEVERAL_MODELS, engine="exact"),
        "labels=['toxic', 'insult']",
        lambda result: list(result.by_label) == ["toxic", "insult"],
    ),
    "votes on pairs of models": Call(
        lambda: pt.read_scores("arena.csv"),
        "pt.compare(pt.read_votes(...))",
        lambda: pt.compare(pt.read_votes("arena.csv")),
        lambda compared: set(compared.models) == {"ours", "theirs"},
    ),
    "two numbers of labels": Call(
        lambda: pt.Truth.from_labels(["a", "b"], n_labels=3),
        "classes=[...]",
        lambda: pt.Truth.from_labels(["a", "b"], classes=["a", "b", "c"]),
        lambda truth: truth.probs.shape == (2, 3),
    ),
    "groups of people without their scores": Call(
        lambda: pt.compare(scores(), annotator_groups={"u0": "g"}),
        "read_scores(..., annotator=COLUMN)",
        lambda: pt.compare(
            pt.read_scores(by_person(), annotator="who", higher_is_better=True), annotator_groups=GROUPS
        ),
        lambda found: len(found.group_results["groups of annotators"]) == 2,
    ),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calls")
    write_all(folder)
    return folder


@pytest.mark.parametrize("name", CALLS)
def test_a_proposal_runs_and_means_what_it_says(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    call = CALLS[name]
    with pytest.raises((InputError, PosteriorError)) as refused:
        call.refused()
    assert call.says in str(refused.value)
    assert call.means(call.then())
