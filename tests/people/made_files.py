"""The files that fourteen people have: simulated, so that the better model is known, and unlike the examples' files."""

import json
from pathlib import Path

import numpy as np
import polars as pl

N = 150
TOPICS = ["billing", "bug", "other"]
TICKETS = [f"T-{number:05d}" for number in range(N)]


def opinions() -> np.ndarray:
    """How people would answer on each ticket; nobody sees it."""
    return np.random.default_rng(0).dirichlet([0.6, 0.6, 0.6], N)


def forecasts() -> dict[str, np.ndarray]:
    """`new` is close to the opinions, `old` is not."""
    random = np.random.default_rng(1)
    return {name: share * opinions() + (1 - share) * random.dirichlet([1, 1, 1], N) for name, share in
            (("new", 0.8), ("old", 0.35))}  # fmt: skip


def crowd(folder: Path) -> None:
    """crowd.csv: four of nine workers on each ticket; new.csv and old.csv with a prefix, a text and the best label."""
    random = np.random.default_rng(2)
    rows = [
        (ticket, f"w{worker}", TOPICS[random.choice(3, p=opinion)], f"2026-01-{1 + at % 28:02d}")
        for at, (ticket, opinion) in enumerate(zip(TICKETS, opinions(), strict=True))
        for worker in random.choice(9, 4, replace=False)
    ]
    names = ["ticket_id", "worker", "category", "time"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(folder / "crowd.csv")
    for name, probs in forecasts().items():
        columns = {f"p_{topic}": probs[:, at] for at, topic in enumerate(TOPICS)}
        best = [TOPICS[at] for at in probs.argmax(1)]
        table = pl.DataFrame({"ticket": TICKETS, "text": ["Hello"] * N, **columns, "pred": best})
        table.sample(fraction=1.0, shuffle=True, seed=len(name)).write_csv(folder / f"{name}.csv")


def spreadsheet(folder: Path) -> None:
    """known.csv: the right topic of each ticket; new.csv and old.csv with semicolons and decimal commas."""
    best = [TOPICS[at] for at in opinions().argmax(1)]
    pl.DataFrame({"item": TICKETS, "label": best}).write_csv(folder / "known.csv")
    for name, probs in forecasts().items():
        text = pl.DataFrame({"item": TICKETS, **dict(zip(TOPICS, probs.T, strict=True))}).write_csv(separator=";")
        head, body = text.split("\n", 1)
        (folder / f"{name}.csv").write_text(f"{head}\n{body.replace('.', ',')}")


def events(folder: Path) -> None:
    """default.csv: whether each loan failed; close.csv and far.csv: one probability of it."""
    random = np.random.default_rng(3)
    risk = random.beta(1, 3, 400)
    loans = [f"loan{number}" for number in range(400)]
    failed = (random.random(400) < risk).astype(int)
    pl.DataFrame({"loan": loans, "label": failed}).write_csv(folder / "default.csv")
    pl.DataFrame({"loan": loans, "p": risk}).write_csv(folder / "close.csv")
    pl.DataFrame({"loan": loans, "p": 0.7 - 0.5 * risk}).write_csv(folder / "far.csv")


def channels(folder: Path) -> None:
    """soft.parquet, the models' tables, and about.csv with the channel of each ticket, uneven in number."""
    for name, probs in {"soft": opinions(), **forecasts()}.items():
        table = pl.DataFrame({"item": TICKETS, **dict(zip(TOPICS, probs.T, strict=True))})
        table.write_parquet(folder / f"{name}.parquet")
    channel = ["mail" if at % 10 else "phone" if at % 20 else "chat" for at in range(N)]
    pl.DataFrame({"item": TICKETS, "channel": channel}).write_csv(folder / "about.csv")


def leaderboard(folder: Path) -> None:
    """board.csv: one row a question, one column of 0 and 1 for each system, and its subject."""
    random = np.random.default_rng(4)
    right = {name: (random.random(200) < share).astype(int) for name, share in (("large", 0.8), ("small", 0.55))}
    subject = [f"subject-{number % 4}" for number in range(200)]
    questions = [f"q{number}" for number in range(200)]
    pl.DataFrame({"question": questions, **right, "subject": subject}).write_csv(folder / "board.csv")


def harness(folder: Path) -> None:
    """logs/: two models, a multiple-choice task and gsm8k, as lm-evaluation-harness 0.4.9 lays them out."""
    random = np.random.default_rng(5)
    date = "2025-09-01T10-00-00.000000"
    for name, share in (("large", 0.85), ("small", 0.5)):
        place = folder / "logs" / f"org__{name}"
        place.mkdir(parents=True)
        (place / f"results_{date}.json").write_text(json.dumps({"results": {}, "model_name": f"org/{name}"}))
        rows: dict[str, list[dict[str, object]]] = {"arc_easy": [], "gsm8k": []}
        for number in range(60):
            hit = bool(random.random() < share)
            answer = [["-0.2", "True"], ["-1.7", "False"]][:: 1 if hit else -1]
            choice = {"doc_id": number, "doc_hash": f"m{number}", "target": "0", "filter": "none"}
            choice |= {"filtered_resps": answer, "metrics": ["acc", "acc_norm"]}
            rows["arc_easy"].append({**choice, "acc": float(hit), "acc_norm": float(hit)})
            for filter, least in (("strict-match", 0.1), ("flexible-extract", 0.0)):
                said = {"doc_id": number, "doc_hash": f"g{number}", "target": "4", "filter": filter}
                said |= {"filtered_resps": ["4"], "metrics": ["exact_match"]}
                rows["gsm8k"].append({**said, "exact_match": float(random.random() < share - least)})
        for task, listed in rows.items():
            (place / f"samples_{task}_{date}.jsonl").write_text("\n".join(map(json.dumps, listed)) + "\n")


def inspect(folder: Path) -> None:
    """logs/: an Inspect log for each of two models, graded C and I."""
    random = np.random.default_rng(6)
    (folder / "logs").mkdir()
    for name, share in (("large", 0.85), ("small", 0.5)):
        samples = [
            {"id": f"q{number}", "epoch": 1, "input": f"{number} + 1?", "target": str(number + 1),
             "scores": {"match": {"value": "CI"[int(random.random() > share)]}}}
            for number in range(80)
        ]  # fmt: skip
        log = {"status": "success", "eval": {"task": "sums", "model": f"mockllm/{name}"}, "samples": samples}
        (folder / "logs" / f"{name}.json").write_text(json.dumps(log))


def label_studio(folder: Path) -> None:
    """export.json: the workers' answers as Label Studio exports them."""
    crowd(folder)
    tasks = {}
    for ticket, worker, topic, _ in pl.read_csv(folder / "crowd.csv").iter_rows():
        task = tasks.setdefault(ticket, {"id": len(tasks), "data": {"key": ticket}, "annotations": []})
        value = {"from_name": "topic", "to_name": "text", "type": "choices", "value": {"choices": [topic]}}
        task["annotations"].append({"completed_by": int(worker[1:]), "result": [value]})
    (folder / "export.json").write_text(json.dumps(list(tasks.values())))


def chaosnli(folder: Path) -> None:
    """nli.jsonl with a list of 100 people's counts for each item, and two models' probabilities of e, n and c."""
    random = np.random.default_rng(8)
    with (folder / "nli.jsonl").open("w") as stream:
        for item, row in zip(TICKETS, opinions(), strict=True):
            counts = random.multinomial(100, row).tolist()
            counter = {label: count for label, count in zip("enc", counts, strict=True) if count}
            record = {"uid": item, "label_counter": counter, "label_count": counts, "example": {"premise": "a"}}
            stream.write(json.dumps(record) + "\n")
    for name, probs in forecasts().items():
        pl.DataFrame({"uid": TICKETS, **dict(zip("enc", probs.T, strict=True))}).write_csv(folder / f"{name}.csv")


def losses(folder: Path) -> None:
    """nightly.csv: a loss for each case on the main branch and on a branch that is worse."""
    random = np.random.default_rng(4)
    rows = [
        row
        for case, loss in enumerate(random.gamma(2, 0.2, N))
        for row in ((case, "main", loss), (case, "branch", loss + 0.1 * random.random()))
    ]
    pl.DataFrame(rows, schema=["case", "build", "loss"], orient="row").write_csv(folder / "nightly.csv")


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


def nothing(folder: Path) -> None:
    """The script brings its own data."""
