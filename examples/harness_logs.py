"""Compare language models from the logs of an evaluation harness: by accuracy, and by the probabilities of the choices.

The logs are made here, in the format of the lm-evaluation-harness (`lm_eval --log_samples`): two models, two tasks.
For your own logs, give `pt.loaders` the harness's output folder; on the command line:

    probtruth compare OUTPUT_FOLDER --score acc --out result
"""

import argparse
import hashlib
import json
import tempfile
from pathlib import Path

import numpy as np

import probtruth as pt

TASKS = {"birds": 120, "rivers": 80}
SKILL = {"base": 1.0, "tuned": 1.3}
DATE = "2026-01-31T10-00-00.000000"


def write_logs(folder: Path) -> None:
    """A file of samples for each model and task; the tuned model is a little better on the same questions."""
    rng = np.random.default_rng(7)
    for task, n_items in TASKS.items():
        right = rng.integers(0, 4, n_items)
        ease = rng.normal(0, 1, n_items)
        for model, skill in SKILL.items():
            path = folder / model / f"samples_{task}_{DATE}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = [sample(rng, task, item, int(right[item]), skill + ease[item]) for item in range(n_items)]
            path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")


def sample(rng: np.random.Generator, task: str, item: int, right: int, skill: float) -> dict[str, object]:
    """One line of the log: the log-likelihood of each choice, and the harness's metrics of them."""
    question = f"{task}, question {item}?"
    logs = rng.normal(0, 1, 4) + skill * (np.arange(4) == right) - 8
    return {
        "doc_id": item,
        "doc": {"question": question, "answer": right},
        "target": str(right),
        "arguments": {f"gen_args_{k}": {"arg_0": question, "arg_1": f" choice {k}"} for k in range(4)},
        "resps": [[[str(value), "False"]] for value in logs],
        "filtered_resps": [[str(value), "False"] for value in logs],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": hashlib.sha256(question.encode()).hexdigest(),
        "prompt_hash": hashlib.sha256(f"Question: {question}".encode()).hexdigest(),
        "acc": float(np.argmax(logs) == right),
    }


def show(title: str, comparison: pt.Comparison) -> None:
    print(title)
    for row in comparison.ranking().iter_rows(named=True):
        print(f"  {row['model']:>6}: {row['score']:.3f}, P(best) = {row['p_best']:.3f}")
    pair = comparison.pairwise().row(0, named=True)
    span = f"{pair['difference']:+.3f} ({pair['low']:+.3f} to {pair['high']:+.3f})"
    print(f"  {pair['a']} against {pair['b']} (negative favours {pair['a']}): {span}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for the logs")
    folder = parser.parse_args().out or Path(tempfile.mkdtemp())
    write_logs(folder)

    scores = pt.loaders.read_lm_eval_samples(folder, metric="acc")
    print(f"{len(scores.items)} questions of {len(scores.groups.names)} tasks; {scores.audit.dropped} left out")
    show("accuracy (right or wrong, tasks as groups):", pt.compare(scores, engine="exact"))

    predictions, truth = pt.loaders.read_lm_eval_choices(folder)
    by_choice = pt.score(predictions, truth, rule="log")
    show("log score of the choices (how sure, in nats; lower is better):", pt.compare(by_choice, engine="exact"))


if __name__ == "__main__":
    main()
