"""Small files of every kind that a message may be about."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ITEMS = [f"i{n}" for n in range(24)]
LABELS = ("no", "yes")


def write_all(place: Path) -> None:
    """The files, in a folder."""
    random = np.random.default_rng(3)
    truth = np.arange(len(ITEMS)) % 2
    votes = {"item": ITEMS * 3, "annotator": [name for name in ("ann", "bob", "cy") for _ in ITEMS]}
    wrong = random.random(3 * len(ITEMS)) < 0.2
    codes = (np.tile(truth, 3) + wrong) % 2
    labels = pl.DataFrame({**votes, "label": [LABELS[code] for code in codes]})
    labels.write_csv(place / "labels.csv")
    labels.rename({"item": "_unit_id", "annotator": "_worker_id", "label": "answer"}).write_csv(place / "renamed.csv")
    blanks = labels.with_columns(label=pl.when(pl.arange(0, pl.len()) < 6).then(pl.lit("NA")).otherwise("label"))
    blanks.write_csv(place / "blanks.csv")
    wide = labels.pivot("annotator", index="item", values="label")
    wide.write_csv(place / "wide.csv")
    wide.with_columns(pl.col("ann", "bob", "cy").replace_strict({"no": 0, "yes": 1})).write_csv(place / "codes.csv")
    pl.DataFrame({"item": ITEMS, "no": codes[:24] + 1, "yes": 3 - codes[:24]}).write_csv(place / "counts.csv")

    models = {"sharp": 0.85, "flat": 0.6}
    for name, sure in models.items():
        event = np.where(truth == 1, sure, 1 - sure) + random.uniform(-0.1, 0.1, len(ITEMS))
        probs = {"item": ITEMS, "no": 1 - event, "yes": event}
        frame = pl.DataFrame(probs)
        frame.write_csv(place / f"{name}.csv")
        frame.with_columns(pl.col(LABELS) * 100).write_csv(place / f"{name}-percent.csv")
        frame.with_columns(pl.col(LABELS) * 4 - 2).write_csv(place / f"{name}-logits.csv")
        frame.with_columns(pl.col(LABELS) * 0.97).write_csv(place / f"{name}-short.csv")
        frame.rename({"item": "key"}).with_columns(other=pl.Series(ITEMS)).write_csv(place / f"{name}-keys.csv")
        pl.DataFrame({"item": ITEMS, "yes": 8 * event - 4}).write_csv(place / f"{name}-event.csv")

    scores = {"item": ITEMS * 2, "model": ["a"] * 24 + ["b"] * 24, "score": random.uniform(1, 5, 48).round(2)}
    pl.DataFrame(scores).write_csv(place / "scores.csv")
    ahead = [0.01, 0.03, -0.01, 0.02, 0.02, 0.0, 0.03, 0.01, 0.02, 0.01]
    folds = [
        f"{k},{model},{0.8 + gain * (model == 'ours')}" for k, gain in enumerate(ahead) for model in ("ours", "theirs")
    ]
    (place / "folds.csv").write_text("fold,model,accuracy\n" + "\n".join(folds) + "\n")
    failed = pl.DataFrame(scores).with_columns(score=pl.when(pl.arange(0, pl.len()) == 3).then(-1.0).otherwise("score"))
    failed.write_csv(place / "failed.csv")
    seeds = pl.concat([pl.DataFrame(scores).with_columns(seed=pl.lit(f"s{seed}")) for seed in range(4)])
    shift = pl.col("seed").str.slice(1).cast(pl.Float64) - 1.5
    seeds.with_columns(score=pl.col("score") + pl.when(pl.col("model") == "a").then(shift).otherwise(-shift)).write_csv(
        place / "seeds.csv"
    )
    board = {"benchmark": [f"t{n}" for n in range(6)], "ours": random.random(6), "theirs": random.random(6)}
    pl.DataFrame(board).write_csv(place / "board.csv")
    pl.DataFrame({"prompt": ITEMS, "ours": random.random(24), "theirs": random.random(24)}).write_csv(
        place / "prompts.csv"
    )
    pl.DataFrame({"item": ITEMS[:16], "label": [LABELS[code] for code in truth[:16]]}).write_csv(place / "gold.csv")
    pl.DataFrame({"item": ITEMS[:4], "label": list(LABELS) * 2}).write_csv(place / "few.csv")
    whole = pl.DataFrame({"item": ITEMS, "no": codes[:24], "yes": 3 - codes[:24]})
    whole.write_csv(place / "whole.csv")
    good = pl.Series(random.uniform(0.1, 0.9, 6))
    pl.DataFrame({"item": [str(n) for n in range(6)], "good": good, "bad": 1 - good}).write_csv(place / "mood.csv")
    soft = pl.DataFrame({"item": ITEMS, **{label: truth == k for k, label in enumerate(LABELS)}})
    soft = soft.with_columns(pl.col(LABELS).cast(pl.Float64) * 0.8 + 0.1)
    soft.write_csv(place / "soft.csv")
    soft.rename({"item": "key"}).write_csv(place / "soft-keys.csv")
    battles = [f"q{n},ours,theirs,{'model_a' if n % 3 else 'model_b'}" for n in range(30)]
    (place / "arena.csv").write_text("\n".join(["prompt,model_a,model_b,winner", *battles]) + "\n")
    (place / "probtruth-broken.toml").write_text("rule = \n")
    (place / "taken").mkdir()
    (place / "taken" / "mine.txt").write_text("mine")
    _exports(place)
    _logs(place, random)


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def _write_lines(path: Path, rows: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)))


def _exports(place: Path) -> None:
    tasks = []
    for number in range(6):
        results = [
            {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [value]}}
            for name, value in (("mood", "good" if number % 2 else "bad"), ("tone", "calm"))
        ]
        annotations = [{"completed_by": who, "result": results} for who in (1, 2)]
        tasks.append({"id": number, "data": {"text": "t"}, "annotations": annotations})
    _write_json(place / "export.json", tasks)
    rows = [{"uid": str(n), "annotators": "a,b", "annotations": {"a": n % 2, "b": 1}} for n in range(4)]
    _write_lines(place / "lewidi.jsonl", rows)
    _write_lines(place / "nested.jsonl", [{"id": f"q{n}", "cell": {"x": 2, "y": n}} for n in range(3)])
    _write_lines(place / "positions.jsonl", [{"uid": f"q{n}", "label_count": [2, n, 1]} for n in range(3)])


def _logs(place: Path, random: np.random.Generator) -> None:
    for model in ("small", "large"):
        for task, metrics in (("arc", ("acc", "acc_norm")), ("mt", ("bleu", "ter"))):
            rows = []
            for doc in range(12):
                values = {metric: float(random.random() < 0.5) for metric in metrics}
                answers = [["-0.5", "True"], ["-1.5", "False"]]
                rows.append(
                    {"doc_id": doc, "target": "0", "filtered_resps": answers, "metrics": list(metrics), **values}
                )
            _write_lines(place / "logs" / model / f"samples_{task}_2026-01-31T10-00-00.000000.jsonl", rows)
        samples = [
            {"id": f"q{n}", "epoch": 1, "input": f"q{n}", "scores": {"match": {"value": "C"}, "judge": {"value": "I"}}}
            for n in range(4)
        ]
        log = {"status": "success", "eval": {"task": "sums", "model": model}, "samples": samples}
        _write_json(place / "inspect" / f"{model}.json", log)
        stats = [{"name": {"name": name}, "mean": 0.5} for name in ("exact_match", "f1_score")]
        instances = [{"instance_id": f"id{n}", "stats": stats} for n in range(4)]
        _write_json(place / "helm" / f"quiz:model={model}" / "per_instance_stats.json", instances)
