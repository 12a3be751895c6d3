"""An option that does nothing beside others is refused, with its name: it is never typed in vain."""

import json
import re
from pathlib import Path

import pytest

LABELS = ("--annotator", "--label", "--replicate", "--format")


def words(files: dict[str, Path], place: Path) -> dict[str, list[object]]:
    """A command of each kind of input."""
    models = [f"--predictions={name}={files[name]}" for name in ("sharp", "flat")]
    lines = files["sharp"].read_text().splitlines()
    (place / "soft.csv").write_text("\n".join(lines) + "\n")
    logs = []
    for model in ("small", "large"):
        folder = place / "logs" / model
        folder.mkdir(parents=True)
        rows = [
            {"doc_id": n, "target": "0", "filtered_resps": [["-0.5", "True"], ["-1.5", "False"]], "acc": float(n % 2)}
            for n in range(6)
        ]
        (folder / "samples_quiz.jsonl").write_text("\n".join(map(json.dumps, rows)))
        logs.append(f"--predictions={model}={folder}")
    results = [
        {"promptIdx": 0, "testIdx": n, "provider": {"id": model}, "vars": {"q": n}, "score": 0.5, "success": True}
        for model in "ab"
        for n in range(3)
    ]
    (place / "promptfoo.jsonl").write_text("\n".join(map(json.dumps, results)))
    task = {"text": "t", "_input_hash": 5, "_session_id": "ann", "options": [{"id": "good"}], "accept": ["good"]}
    (place / "prodigy.jsonl").write_text(json.dumps({**task, "answer": "accept"}))
    annotations = ["--annotations", files["labels"], *models]
    scores = [files["scores"], "--higher-is-better"]
    return {
        "soft": ["run", "--soft", place / "soft.csv", *models],
        "choices": ["run", *logs],
        "annotations": ["run", *annotations],
        "scores": ["compare", *scores],
        "logs": ["compare", place / "logs"],
        "promptfoo": ["compare", place / "promptfoo.jsonl"],
        "export": ["truth", place / "prodigy.jsonl"],
        "plan of scores": ["plan", *scores],
        "plan of annotations": ["plan", *annotations],
        "validate scores": ["validate", *scores],
        "validate annotations": ["validate", *annotations],
        "monitor": ["monitor", *scores, "--state", place / "state.json", "--bounds", 0, 1],
    }


OF_LABELS = ("--annotator", "--label", "--rule", "--kind", "--renormalise", "--predictions")
OF_SCORES = ("--model", "--score", "--group", "--cluster", "--task", "--metric", "--filter", "--higher-is-better")
IDLE = {
    "soft": LABELS,
    "choices": (*LABELS, "--item", "--kind", "--renormalise", "--memory", "--truth"),
    "annotations": ("--show", "--baseline", "--weights"),
    "scores": ("--task", "--metric", "--filter", "--show", "--baseline", "--fold-correlation", "--weights"),
    "logs": ("--item", "--model", "--group", "--cluster", "--replicate", "--memory", "--missing", "--transpose"),
    "promptfoo": ("--task", "--metric", "--filter", "--higher-is-better", "--lower-is-better", "--item"),
    "export": ("--annotator", "--label", "--replicate", "--missing"),
    "plan of scores": OF_LABELS,
    "plan of annotations": OF_SCORES,
    "validate scores": OF_LABELS,
    "validate annotations": OF_SCORES,
    "monitor": ("--close",),
}
VALUES = {
    "--memory": "2GB",
    "--kind": "probs",  # also where a value is the default
    "--rule": "log",
    "--label": "label",
    "--item": "item",
    "--format": "auto",
    "--fold-correlation": 0.1,
    "--weights": "equal",
    "--show": "scores.csv:model",
    **dict.fromkeys(("--renormalise", "--higher-is-better", "--lower-is-better", "--transpose", "--close")),
}


@pytest.mark.parametrize(("kind", "option"), [(kind, option) for kind, listed in IDLE.items() for option in listed])
def test_refused(run, files, tmp_path, kind: str, option: str) -> None:
    value = VALUES.get(option, "x")
    typed = words(files, tmp_path)[kind]
    outcome = run(*typed, option, *([] if value is None else [value]))
    assert outcome.status == 2, outcome.out
    named = option.strip("-").replace("-", "[-_ ]")
    assert "Traceback" not in outcome.err
    assert re.search(named, outcome.err), outcome.err
