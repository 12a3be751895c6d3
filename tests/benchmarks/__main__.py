"""`python -m tests.benchmarks [NAME...]`: measures, prints, and writes the tables into docs/performance.md.

Tables that are not named stay as they are on the page. Run it on an otherwise idle machine.
"""

import os
import platform
import re
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars

import probtruth as pt
from tests.benchmarks.measure import Subject, anonymous_peak, measured, of_processes, process

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
BEGIN = "<!-- measured -->\n"  # what stands above it is written by hand
PLACE = tempfile.TemporaryDirectory()
IMPORTS = "import jax, numpyro, arviz"


def soft(items: int, labels: int, seed: int) -> np.ndarray:
    """Random distributions in float32."""
    drawn = np.random.default_rng(seed).standard_exponential((items, labels), np.float32) + np.float32(1e-6)
    return drawn / drawn.sum(1, keepdims=True)


def scores(items: int, models: int = 5) -> pt.Scores:
    """Losses of models that differ a little, in twenty groups."""
    rng = np.random.default_rng(0)
    hard = rng.gamma(2.0, 0.5, items)
    values = np.stack([hard * rng.uniform(0.5, 1.5, items) + 0.01 * model for model in range(models)])
    return pt.Scores(values, tuple("abcdefgh"[:models]), tuple(map(str, range(items))), "loss")


def twenty(items: int) -> list[str]:
    """Twenty groups of equal size."""
    return [str(item % 20) for item in range(items)]


@cache
def tables(items: int, labels: int, models: int, counts: bool = False) -> tuple[Path, dict[str, Path]]:
    """Parquet files of a reference and of the models, items numbered."""
    folder = Path(PLACE.name) / f"{items}x{labels}{'counts' * counts}"
    paths = {name: folder / f"{name}.parquet" for name in ("reference", *(f"m{model}" for model in range(models)))}
    folder.mkdir()
    for seed, (name, path) in enumerate(paths.items()):
        values = soft(items, labels, seed)
        if counts and name == "reference":
            values = np.random.default_rng(0).integers(0, 4, (items, labels)) + np.eye(labels, dtype=int)[0]
        columns = {"item": np.arange(items)} | {f"l{label}": values[:, label] for label in range(labels)}
        polars.DataFrame(columns).write_parquet(path, row_group_size=1 << 18)
    return paths.pop("reference"), paths


def small_files() -> list[str]:
    """Words of `probtruth run` on 1,200 items, three annotators and three models in CSV, with a column of groups."""
    folder, rng, n = Path(PLACE.name) / "small", np.random.default_rng(0), 1_200
    folder.mkdir(exist_ok=True)
    items = np.repeat(np.arange(n), 3)
    votes = np.where(rng.random(3 * n) < 0.3 + 0.4 * (items % 2), "yes", "no")
    frame = {"item": items, "annotator": np.tile(["x", "y", "z"], n), "label": votes}
    polars.DataFrame(frame).write_csv(folder / "labels.csv")
    polars.DataFrame({"item": np.arange(n), "group": np.arange(n) % 20}).write_csv(folder / "groups.csv")
    words = ["-m", "probtruth", "run", "--annotations", str(folder / "labels.csv")]
    for name in "abc":
        yes = rng.integers(1, 64, n) / 64
        polars.DataFrame({"item": np.arange(n), "yes": yes, "no": 1 - yes}).write_csv(folder / f"{name}.csv")
        words += ["--predictions", f"{name}={folder / name}.csv"]
    return words


def kernel(items: int, labels: int) -> Subject:
    """The log score under the caller's own jit, value and gradient, from probabilities and from logits."""
    import jax
    import jax.numpy as jnp

    probs, truth = (jnp.asarray(soft(items, labels, seed)) for seed in (0, 1))
    logits = jnp.log(probs)
    works = {}
    for what, whole in {"value": jax.jit, "gradient": lambda f: jax.jit(jax.value_and_grad(f))}.items():
        for name, score, given in (
            ("XLA, -(t * log p).sum(-1), zeros wrong", lambda p, t: -(t * jnp.log(p)).sum(-1), probs),
            ("**log_score**", pt.log_score, probs),
            ("XLA, log_softmax and a product", lambda z, t: -(t * jax.nn.log_softmax(z)).sum(-1), logits),
            ("**log_score_from_logits**", pt.rules.log_score_from_logits, logits),
        ):
            compiled = whole(lambda p, t, score=score: score(p, t).mean())
            works[f"{name}, {what}"] = lambda f=compiled, p=given: f(p, truth)
    goals = {"**log_score**, value": 1.35}
    return Subject(f"Log score under jit, {items:,} x {labels:,}", works, goals, "Mean over items, float32.", 15)


def run_on_parquet(counts: bool) -> Subject:
    """`evaluate` on files beside polars reading the same files."""
    reference, models = tables(1_000_000, 10, 5, counts)
    files = [reference, *models.values()] if counts else list(models.values())

    def evaluate(memory: float | None = None) -> None:
        known = pt.read_annotations(reference, format="counts") if counts else reference
        pt.evaluate(known, models, engine="exact", memory=memory)

    works = {
        "polars.read_parquet of the files": lambda: [polars.read_parquet(path) for path in files] and None,
        "**evaluate**, in memory": evaluate,
        "**evaluate**, from disk": lambda: evaluate(1e6),
    }
    goals = {"**evaluate**, in memory": 6 if counts else 2.5, "**evaluate**, from disk": 6 if counts else 4}
    title = f"{'Counts of votes' if counts else 'Soft labels'} in Parquet, 1,000,000 x 10 x 5 models"
    import time

    return Subject(title, works, goals, "Processor time, imports not included.", 3, clock=time.process_time)


def first_table() -> Subject:
    """`probtruth compare` of a table in a new process."""
    path = Path(PLACE.name) / "scores.csv"
    given = scores(1_000, 3)
    columns = {"item": list(given.items) * 3, "model": np.repeat(given.models, 1_000), "score": given.values.ravel()}
    polars.DataFrame(columns).write_csv(path)
    works = {
        "import polars, scipy.special": process("-c", "import polars, scipy.special"),
        "**probtruth compare**, --json": process(
            "-m", "probtruth", "compare", str(path), "--lower-is-better", "--json"
        ),
        "import probtruth": process("-c", "import probtruth"),
        "**probtruth --help**": process("-m", "probtruth", "--help"),
    }
    goals = {"**probtruth compare**, --json": 1.5}
    return Subject("A first table of scores", works, goals, "Processor time of new processes.", 5, clock=of_processes)


def first_answer() -> Subject:
    """`probtruth run` in a new process, without a report."""
    words, groups = small_files(), ["--groups", f"{Path(PLACE.name) / 'small' / 'groups.csv'}:group"]
    works = {
        IMPORTS: process("-c", IMPORTS),
        "**probtruth run**, no groups": process(*words),
        "**probtruth run**, 20 groups": process(*words, *groups),
        "**probtruth run**, 20 groups, compiled before": process(*words, *groups, cache=f"{PLACE.name}/cache"),
    }
    goals = dict(zip(list(works)[1:], (1.1, 1.9, 1.3), strict=True))
    return Subject("A first answer", works, goals, "1,200 items, 3 models. Processor time.", 3, clock=of_processes)


def annotations() -> Subject:
    """`evaluate` from annotations, both estimands."""
    import time

    rng, n = np.random.default_rng(0), 20_000
    item = np.repeat(np.arange(n), 5)
    label = np.where(rng.random(5 * n) < 0.7, rng.integers(0, 4, n)[item], rng.integers(0, 4, 5 * n))
    votes = pt.Annotations.from_long(
        {"item": item, "annotator": rng.permuted(np.tile(np.arange(100), n // 20)), "label": label}
    )
    models = {name: soft(n, 4, seed) for seed, name in enumerate("ab")}
    made = pt.read_predictions(
        {m: polars.DataFrame({"item": np.arange(n)} | {str(k): p[:, k] for k in range(4)}) for m, p in models.items()}
    )
    works = {
        f"**evaluate**, {estimand}": lambda estimand=estimand: (
            pt.evaluate(votes, made, estimand=estimand, engine="exact") and None
        )
        for estimand in ("distribution", "class")
    }
    text = "20,000 items x 4 labels, 100,000 annotations, two models. Processor time; wanted are 1.5 s and 4 s."
    return Subject("From annotations", works, {}, text, 2, clock=time.process_time)


def posterior() -> Subject:
    """`compare` warm, as the items grow."""
    works = {
        f"{n:,} items, {engine}": lambda n=n, engine=engine: (
            pt.compare(scores(n), groups=twenty(n), engine=engine) and None
        )
        for engine in ("nuts", "exact")
        for n in (1_000, 1_000_000)
    }
    return Subject("Posterior of 5 models in 20 groups, warm", works, {}, "Wanted are 0.5 s at a million items.", 3)


def crowd() -> Subject:
    """Dawid-Skene EM and MACE, crowd-kit beside MACE where it is installed."""
    rng, n_annotators, n = np.random.default_rng(0), 200_000, 1_000_000
    item, annotator = np.repeat(np.arange(n // 5), 5), rng.permutation(n) % n_annotators
    label = np.where(rng.random(n) < 0.7, rng.integers(0, 4, n // 5)[item], rng.integers(0, 4, n))
    votes = pt.Annotations.from_long({"item": item, "annotator": annotator, "label": label})
    some = pt.Annotations.from_long(
        {"item": item[:20_000], "annotator": annotator[:20_000] % 500, "label": label[:20_000]}
    )
    works = {
        "**dawid-skene-em**, 200,000 annotators": lambda: pt.infer_truth(votes, method="dawid-skene-em") and None,
        "**mace**, 20,000 annotations": lambda: pt.infer_truth(some, method="mace") and None,
    }
    try:
        import crowdkit.aggregation
        import pandas

        frame = pandas.DataFrame({"task": item[:20_000], "worker": annotator[:20_000] % 500, "label": label[:20_000]})
        works["crowd-kit MACE, 20,000 annotations"] = lambda: crowdkit.aggregation.MACE().fit(frame) and None
    except ImportError:
        pass
    return Subject("Truth from annotators", works, {}, "Wanted for Dawid-Skene are 15 s.", 1)


ON_DISK = """
import sys
from pathlib import Path
import probtruth as pt
folder = Path(sys.argv[1])
models = {path.stem: path for path in sorted(folder.glob("m*.parquet"))}
pt.evaluate(folder / "reference.parquet", models, engine="exact", memory=2e8)
"""
READ = """
import sys, polars
from pathlib import Path
for path in sorted(Path(sys.argv[1]).glob("m*.parquet")):
    polars.read_parquet(path)
"""


def larger_than_memory(items: int = 2_000_000) -> str:
    """Time and anonymous memory of `evaluate` from disk beside polars reading the same files, as a table."""
    reference, _ = tables(items, 10, 5)
    lines = ["| work | time | most anonymous memory |", "|---|---|---|"]
    for name, code in (("polars.read_parquet, a file at a time", READ), ("**evaluate**, from disk", ON_DISK)):
        seconds, peak = anonymous_peak(code, str(reference.parent))
        lines.append(f"| {name} | {seconds:.1f} s | {peak:.2f} GB |")
    text = f"{5 * items:,} rows of 10 labels, five models, imports included; `memory=` 0.2 GB."
    return f"## Larger than memory\n\n{text}\n\n" + "\n".join(lines) + "\n"


SUBJECTS = {
    "kernels": lambda: kernel(1_000_000, 10),
    "kernels-wide": lambda: kernel(4_096, 1_000),
    "soft-parquet": lambda: run_on_parquet(False),
    "counts-parquet": lambda: run_on_parquet(True),
    "first-table": first_table,
    "first-answer": first_answer,
    "annotations": annotations,
    "posterior": posterior,
    "crowd": crowd,
}


def table(subject: Subject) -> str:
    """A subject as Markdown."""
    lines = [f"## {subject.title}", "", *([subject.text, ""] if subject.text else [])]
    lines += ["| work | time | ratio to the first (quartiles) | wanted |", "|---|---|---|---|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in measured(subject))]) + "\n"


def main() -> int:
    """Measures the subjects named, or all."""
    known = [*SUBJECTS, "larger"]
    names = sys.argv[1:] or known
    if unknown := [name for name in names if name not in known]:
        print(f"unknown: {' '.join(unknown)}; known: {' '.join(known)}", file=sys.stderr)
        return 2
    head, _, earlier = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    parts = {part.split("\n", 1)[0]: part for part in re.split(r"(?m)^(?=## )", earlier)[1:]}
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "jax", "numpyro", "polars"))
    machine = (
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {packages}; load {os.getloadavg()[0]:.1f}.\n"
    )
    for name in names:
        part = larger_than_memory() if name == "larger" else table(SUBJECTS[name]())
        print(part, flush=True)
        parts[part.split("\n", 1)[0]] = part.rstrip() + "\n"
        text = f"{BEGIN}\nMachine of the last run: {machine}\n" + "\n".join(parts.values())
        PAGE.write_text(head + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
