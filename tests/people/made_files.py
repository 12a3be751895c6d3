"""The files that twelve people have: simulated, so that the better model is known. `MADE` names them by script."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

N = 120
LABELS = ("calm", "upset")
ITEMS = [f"text-{number}" for number in range(N)]
NAMES = ("ours", "theirs")


def opinions(seed: int = 0) -> np.ndarray:
    """How people would answer on each item; nobody sees it."""
    return np.random.default_rng(seed).dirichlet([0.7, 0.7], N)


def forecasts(seed: int = 1) -> dict[str, np.ndarray]:
    """`ours` is close to the opinions, `theirs` half as close."""
    random, opinion = np.random.default_rng(seed), opinions()
    noise = random.dirichlet([1, 1], N)
    return {"ours": 0.85 * opinion + 0.15 * noise, "theirs": 0.4 * opinion + 0.6 * noise}


def votes(people: int = 5, seed: int = 2) -> list[tuple[str, str, str]]:
    """Item, annotator and label: every item has the same number of answers."""
    random = np.random.default_rng(seed)
    said = [(random.choice(8, people, replace=False), random.random(people) < yes) for yes, _ in opinions()]
    rows = zip(ITEMS, said, strict=True)
    return [(item, f"ann-{who}", LABELS[int(not yes)]) for item, (a, b) in rows for who, yes in zip(a, b, strict=True)]


def long_table() -> pl.DataFrame:
    """The answers as a table."""
    return pl.DataFrame(votes(), schema=["item", "annotator", "label"], orient="row")


def probabilities(name: str) -> pl.DataFrame:
    """A model's table, in an order of its own."""
    table = pl.DataFrame({"item": ITEMS, **dict(zip(LABELS, forecasts()[name].T, strict=True))})
    return table.sample(fraction=1.0, shuffle=True, seed=len(name))


def tables(folder: Path) -> None:
    """labels.csv, and probabilities as CSV and as Parquet."""
    long_table().write_csv(folder / "labels.csv")
    for name in NAMES:
        probabilities(name).write_csv(folder / f"{name}.csv")
        probabilities(name).write_parquet(folder / f"{name}.parquet")


def accuracies(folder: Path) -> None:
    """scores.csv: one accuracy for each question and system, in four subjects."""
    random = np.random.default_rng(3)
    rows = [
        (f"q{number}", system, int(random.random() < right), f"subject-{number % 4}")
        for number in range(200)
        for system, right in (("large", 0.8), ("small", 0.55))
    ]
    pl.DataFrame(rows, schema=["question", "system", "accuracy", "subject"], orient="row").write_csv(
        folder / "scores.csv"
    )


def losses(folder: Path) -> None:
    """scores.csv: a loss for each item on the main branch and on a branch that is worse."""
    random = np.random.default_rng(4)
    base = random.gamma(2, 0.2, N)
    rows = [
        row
        for item, loss in zip(ITEMS, base, strict=True)
        for row in ((item, "main", loss), (item, "branch", loss + 0.1 * random.random()))
    ]
    pl.DataFrame(rows, schema=["item", "model", "loss"], orient="row").write_csv(folder / "scores.csv")


def harness(folder: Path) -> None:
    """logs/: two models, a multiple-choice task and gsm8k, as lm-evaluation-harness 0.4.9 lays them out."""
    random = np.random.default_rng(5)
    for name, right in (("large", 0.85), ("small", 0.5)):
        place = folder / "logs" / f"org__{name}"
        place.mkdir(parents=True)
        config = {"model": "hf", "model_args": f"pretrained=org/{name}"}
        about = {"config": config, "model_name": f"org/{name}", "model_name_sanitized": f"org__{name}"}
        (place / "results_2025-09-01T10-00-00.000000.json").write_text(json.dumps({"results": {}, **about}))
        mc, gsm = [], []
        for number in range(60):
            hit = bool(random.random() < right)
            answer = [["-0.2", "True"], ["-1.7", "False"]][:: 1 if hit else -1]
            mc.append(
                {
                    "doc_id": number,
                    "doc_hash": f"m{number}",
                    "target": "0",
                    "filter": "none",
                    "filtered_resps": answer,
                    "metrics": ["acc", "acc_norm"],
                    "acc": float(hit),
                    "acc_norm": float(hit),
                }
            )
            for chosen, metric in (
                ("strict-match", random.random() < right - 0.1),
                ("flexible-extract", random.random() < right),
            ):
                gsm.append(
                    {
                        "doc_id": number,
                        "doc_hash": f"g{number}",
                        "target": "4",
                        "filter": chosen,
                        "filtered_resps": ["4"],
                        "metrics": ["exact_match"],
                        "exact_match": float(metric),
                    }
                )
        for task, rows in (("arc_easy", mc), ("gsm8k", gsm)):
            text = "\n".join(map(json.dumps, rows)) + "\n"
            (place / f"samples_{task}_2025-09-01T10-00-00.000000.jsonl").write_text(text)


def inspect(folder: Path) -> None:
    """logs/: an Inspect log for each of two models, graded C and I."""
    random = np.random.default_rng(6)
    (folder / "logs").mkdir()
    for name, right in (("large", 0.85), ("small", 0.5)):
        samples = [
            {
                "id": f"q{number}",
                "epoch": 1,
                "input": f"{number} + 1?",
                "target": str(number + 1),
                "scores": {"match": {"value": "CI"[int(random.random() > right)]}},
            }
            for number in range(80)
        ]
        log = {"status": "success", "eval": {"task": "sums", "model": f"mockllm/{name}"}, "samples": samples}
        (folder / "logs" / f"{name}.json").write_text(json.dumps(log))


def label_studio(folder: Path) -> None:
    """export.json: the answers as Label Studio exports them, and the models' tables."""
    tables(folder)
    tasks = {item: {"id": number, "data": {"key": item}, "annotations": []} for number, item in enumerate(ITEMS)}
    for item, who, label in votes():
        value = {"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
        tasks[item]["annotations"].append({"completed_by": int(who[4:]), "result": [value]})  # type: ignore[attr-defined]
    (folder / "export.json").write_text(json.dumps(list(tasks.values())))


def parts(folder: Path) -> None:
    """soft.parquet, and a folder of Parquet files for each model."""
    pl.DataFrame({"item": ITEMS, **dict(zip(LABELS, opinions().T, strict=True))}).write_parquet(folder / "soft.parquet")
    for name in NAMES:
        (folder / name).mkdir()
        for number, part in enumerate(probabilities(name).iter_slices(50)):
            part.write_parquet(folder / name / f"part-{number}.parquet")


def stars(folder: Path) -> None:
    """stars.csv: three judges give 1 to 5 stars to the answers of two systems to the same prompts."""
    random = np.random.default_rng(7)
    rows = [
        (f"p{prompt}", system, f"judge-{judge}", int(np.clip(round(quality + ease + random.normal(0, 0.7)), 1, 5)))
        for prompt in range(100)
        for ease in [random.normal(0, 0.8)]
        for system, quality in (("ours", 3.6), ("theirs", 3.1))
        for judge in range(3)
    ]
    pl.DataFrame(rows, schema=["prompt", "system", "judge", "stars"], orient="row").write_csv(folder / "stars.csv")


def chaosnli(folder: Path) -> None:
    """chaosnli.jsonl with a list of 100 people's counts for each item, and two models' probabilities of e, n and c."""
    random = np.random.default_rng(8)
    opinion = random.dirichlet([0.8, 0.8, 0.8], N)
    with (folder / "chaosnli.jsonl").open("w") as stream:
        for item, row in zip(ITEMS, opinion, strict=True):
            count = random.multinomial(100, row)
            counter = {label: int(n) for label, n in zip("enc", count, strict=True) if n}
            record = {
                "uid": item,
                "label_counter": counter,
                "majority_label": "enc"[count.argmax()],
                "label_dist": (count / 100).tolist(),
                "label_count": count.tolist(),
                "example": {"uid": item, "premise": "a", "hypothesis": "b"},
            }
            stream.write(json.dumps(record) + "\n")
    noise = random.dirichlet([1, 1, 1], N)
    for name, share in zip(NAMES, (0.85, 0.4), strict=True):
        probs = share * opinion + (1 - share) * noise
        pl.DataFrame({"item": ITEMS, **dict(zip("enc", probs.T, strict=True))}).write_csv(folder / f"{name}.csv")


def nothing(folder: Path) -> None:
    """The script brings its own data."""


MADE: dict[str, Callable[[Path], None]] = {
    "crowd_csv.sh": tables,
    "accuracies_with_groups.py": accuracies,
    "cross_val_predict.py": nothing,
    "harness_folder.sh": harness,
    "inspect_log.sh": inspect,
    "label_studio.py": label_studio,
    "ci_gate.sh": losses,
    "large_parquet.sh": parts,
    "judges_on_a_scale.py": stars,
    "single_model.py": tables,
    "dataframes.py": tables,
    "soft_labels_chaosnli.sh": chaosnli,
}
"""What each script needs in its folder."""
