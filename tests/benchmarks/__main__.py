"""`python -m tests.benchmarks [NAME...]`: measures, prints, and writes the tables into docs/performance.md.

Tables that are not named stay as they are on the page. Run it on an otherwise idle machine.
"""

import io
import os
import platform
import re
import sys
import tempfile
import time
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
    works, rivals = {}, {}
    for what, whole in {"value": jax.jit, "gradient": lambda f: jax.jit(jax.value_and_grad(f))}.items():
        for rival, naive, name, score, given in (
            ("-(t * log p).sum(-1)", lambda p, t: -(t * jnp.log(p)).sum(-1), "**log_score**", pt.log_score, probs),
            (
                "-(t * log_softmax z).sum(-1)", lambda z, t: -(t * jax.nn.log_softmax(z)).sum(-1),
                "**log_score_from_logits**", pt.rules.log_score_from_logits, logits,
            ),
        ):  # fmt: skip
            for shown, function in ((rival, naive), (name, score)):
                compiled = whole(lambda p, t, function=function: function(p, t).mean())
                works[f"{shown}, {what}"] = lambda f=compiled, p=given: f(p, truth)
                rivals[f"{shown}, {what}"] = f"{rival}, {what}"
    wide = {"**log_score_from_logits**, gradient": "1.2"} if labels > 10 else {}
    wanted = {"**log_score**, value": "1.35", **wide}
    text = "Mean over items, float32; each against the line of JAX above it. By the clock."
    return Subject(
        f"Log score under jit, {items:,} x {labels:,}", works, wanted, text, rivals, 15, clock=time.perf_counter
    )


def several_rules() -> Subject:
    """Three rules in one pass beside one."""
    probs, truth = (soft(1_000_000, 10, seed) for seed in (0, 1))
    works = {
        "mean_scores, log": lambda: pt.rules.mean_scores(probs, truth, "log") and None,
        "**mean_scores**, log, brier, spherical": lambda: pt.rules.mean_scores(probs, truth) and None,
    }
    wanted = {"**mean_scores**, log, brier, spherical": "1.6"}
    text = "Against the log score alone. By the clock."
    return Subject("Several rules in one pass, 1,000,000 x 10", works, wanted, text, rounds=9, clock=time.perf_counter)


def run_on_parquet(counts: bool) -> Subject:
    """`evaluate` on files beside polars reading the same files."""
    reference, models = tables(1_000_000, 10, 5, counts)
    files = [reference, *models.values()] if counts else list(models.values())

    def evaluate(memory: float | None = None) -> None:
        known = pt.read_annotations(reference, format="counts", memory=memory) if counts else reference
        pt.evaluate(known, models, engine="exact", memory=memory)

    works = {
        "polars.read_parquet of the files": lambda: [polars.read_parquet(path) for path in files] and None,
        "**evaluate**, in memory": evaluate,
        "**evaluate**, from disk": lambda: evaluate(1e6),
    }
    wanted = {"**evaluate**, in memory": "6" if counts else "2.5"}
    wanted |= {} if counts else {"**evaluate**, from disk": "4"}
    title = f"{'Counts of votes' if counts else 'Soft labels'} in Parquet, 1,000,000 x 10 x 5 models"
    return Subject(title, works, wanted, "Imports not included.", rounds=3)


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
    wanted = {"**probtruth compare**, --json": "1.5"}
    wanted |= dict.fromkeys(("import probtruth", "**probtruth --help**"), "0.2 s")
    text = "1,000 items, 3 models. New processes."
    return Subject("A first table of scores", works, wanted, text, clock=of_processes)


def first_answer() -> Subject:
    """`probtruth run` in a new process, without a report."""
    words, groups = small_files(), ["--groups", f"{Path(PLACE.name) / 'small' / 'groups.csv'}:group"]
    works = {
        IMPORTS: process("-c", IMPORTS),
        "**probtruth run**, no groups": process(*words),
        "**probtruth run**, 20 groups": process(*words, *groups),
        "**probtruth run**, 20 groups, compiled before": process(*words, *groups, cache=f"{PLACE.name}/cache"),
    }
    wanted = dict(zip(list(works)[1:], ("1.1", "1.9", "1.3"), strict=True))
    text = "1,200 items, 3 models. New processes."
    return Subject("A first answer", works, wanted, text, rounds=3, clock=of_processes)


def annotations() -> Subject:
    """`evaluate` from annotations, both estimands."""
    rng, n = np.random.default_rng(0), 20_000
    item = np.repeat(np.arange(n), 5)
    label = np.where(rng.random(5 * n) < 0.7, rng.integers(0, 4, n)[item], rng.integers(0, 4, 5 * n))
    annotator = (rng.integers(0, 100, n)[item] + np.tile(20 * np.arange(5), n)) % 100
    votes = pt.Annotations.from_long({"item": item, "annotator": annotator, "label": label})
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
    wanted = {"**evaluate**, distribution": "1.5 s", "**evaluate**, class": "4 s"}
    text = "20,000 items x 4 labels, 100,000 annotations, two models."
    return Subject("From annotations", works, wanted, text, rounds=2)


def posterior() -> Subject:
    """`compare` warm, as the items grow."""
    made = {n: (scores(n), twenty(n)) for n in (1_000, 1_000_000)}
    works = {
        f"**compare**, {n:,} items, {engine}": lambda n=n, engine=engine: (
            pt.compare(made[n][0], groups=made[n][1], engine=engine) and None
        )
        for engine in ("nuts", "exact")
        for n in made
    }
    wanted = {"**compare**, 1,000,000 items, exact": "0.5 s"}
    return Subject("Posterior of 5 models in 20 groups, warm", works, wanted, rounds=3)


def crowd() -> Subject:
    """Dawid-Skene EM and MACE, crowd-kit beside MACE where it is installed."""
    rng, n_annotators, n = np.random.default_rng(0), 200_000, 1_000_000
    item = np.repeat(np.arange(n // 5), 5)
    annotator = (rng.permutation(n // 5)[item] + np.tile(np.arange(5), n // 5) * 40_001) % n_annotators
    label = np.where(rng.random(n) < 0.7, rng.integers(0, 4, n // 5)[item], rng.integers(0, 4, n))
    votes = pt.Annotations.from_long({"item": item, "annotator": annotator, "label": label})
    some = pt.Annotations.from_long(
        {"item": item[:20_000], "annotator": annotator[:20_000] % 500, "label": label[:20_000]}
    )
    em, mace, rival = "**dawid-skene-em**, 200,000 annotators", "**mace**, 20,000 annotations", "crowd-kit, MACE"
    works = {
        em: lambda: pt.infer_truth(votes, method="dawid-skene-em") and None,
        mace: lambda: pt.infer_truth(some, method="mace") and None,
    }
    wanted = {em: "15 s"}
    try:
        import pandas
        from crowdkit.aggregation.classification.mace import MACE

        frame = pandas.DataFrame({"task": item[:20_000], "worker": annotator[:20_000] % 500, "label": label[:20_000]})
        works[rival] = lambda: MACE(random_state=0).fit(frame) and None
        wanted[mace] = "0.5"
    except ImportError:
        pass
    rivals = {mace: rival if rival in works else mace, rival: rival}
    text = "A million annotations for Dawid-Skene; second calls."
    return Subject("Truth from annotators", works, wanted, text, rivals, 1)


def report() -> Subject:
    """`write_report` beside matplotlib drawing twelve empty figures."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot

    rng, out = np.random.default_rng(0), Path(PLACE.name) / "report"
    models = {name: soft(1_200, 3, seed) for seed, name in enumerate("abc")}
    result = pt.evaluate(pt.Truth.from_labels(rng.integers(0, 3, 1_200), n_labels=3), models, engine="exact")

    def empty() -> None:
        for _ in list((out / "figures").glob("*.svg")):
            figure, _ = matplotlib.pyplot.subplots()
            figure.savefig(io.StringIO(), format="svg")
            matplotlib.pyplot.close(figure)

    pt.write_report(result, out)
    works = {"matplotlib, as many empty figures": empty, "**write_report**": lambda: pt.write_report(result, out)}
    return Subject("A report", works, {}, "1,200 items, 3 labels, 3 models.")


def part_of(files: tuple[Path, dict[str, Path]], part: int, n_parts: int) -> pt.Moments:
    """What a worker sends back of its items."""

    def own(path: Path) -> polars.DataFrame:
        return polars.scan_parquet(path).filter(polars.col("item") % n_parts == part).collect()

    votes = pt.read_annotations(own(files[0]), format="counts")
    models = pt.read_predictions({name: own(path) for name, path in files[1].items()}, index=votes.index)
    return pt.Moments.of(pt.score(models, pt.infer_truth(votes, "vote-share")))


def workers() -> Subject:
    """Workers of Dask with one thread each, which read, score and sum up the parts of counts in Parquet."""
    from dask.distributed import Client

    files = tables(2_000_000, 10, 4, counts=True)
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    one, two = (Client(n_workers=n, threads_per_worker=1, dashboard_address=":0") for n in (1, 2))

    def merged(client: Client) -> None:
        sums = client.gather(client.map(lambda part: part_of(files, part, 8), range(8), pure=False))
        pt.compare(sum(sums[1:], sums[0]))

    works = {"one worker": lambda: merged(one), "**two workers**": lambda: merged(two)}
    wanted = {"**two workers**": "0.6"}
    text = "Counts of ten labels and four models of 2,000,000 items in Parquet, in eight parts. By the clock."
    return Subject("Workers of Dask, 10,000,000 rows", works, wanted, text, rounds=3, clock=time.perf_counter)


ON_DISK = """
import sys
from pathlib import Path
import probtruth as pt
folder = Path(sys.argv[1])
models = {path.stem: path for path in sorted(folder.glob("m*.parquet"))}
known = folder / "reference.parquet"
if folder.name.endswith("counts"):
    known = pt.read_annotations(known, format="counts", memory=2e8)
pt.evaluate(known, models, engine="exact", memory=2e8)
"""
READ = """
import sys, polars
from pathlib import Path
for path in sorted(Path(sys.argv[1]).glob("*.parquet")):
    polars.read_parquet(path)
"""


def larger_than_memory(counts: bool, items: int = 10_000_000) -> list[tuple[str, ...]]:
    """Time and anonymous memory of `evaluate` from disk beside polars reading the same files."""
    reference, _ = tables(items, 10, 5, counts)
    rows = []
    for name, code in (("polars.read_parquet, a file at a time", READ), ("**evaluate**, from disk", ON_DISK)):
        seconds, peak = anonymous_peak(code, str(reference.parent))
        wanted = "2 GB" if code is ON_DISK else ""
        rows.append((name, f"{peak:.2f} GB", f"in {seconds:.0f} s", wanted))
    return rows


SUBJECTS = {
    "kernels": lambda: kernel(1_000_000, 10),
    "kernels-wide": lambda: kernel(4_096, 1_000),
    "rules": several_rules,
    "soft-parquet": lambda: run_on_parquet(False),
    "counts-parquet": lambda: run_on_parquet(True),
    "first-table": first_table,
    "first-answer": first_answer,
    "annotations": annotations,
    "posterior": posterior,
    "crowd": crowd,
    "report": report,
    "workers": workers,
    **{
        name: lambda what=what: Subject(
            f"Larger than memory, 10,000,000 x 10 {what}, 5 models", {}, {},
            "Most anonymous memory of a process, imports included; `memory=` 0.2 GB.",
        )
        for name, what in (("larger", "counts of votes"), ("larger-soft", "soft labels"))
    },
}  # fmt: skip


def table(subject: Subject) -> str:
    """A subject as Markdown."""
    lines = [f"## {subject.title}", "", *([subject.text, ""] if subject.text else [])]
    lines += ["| work | taken | ratio (quartiles) | wanted |", "|---|---|---|---|"]
    rows = measured(subject) if subject.works else larger_than_memory("counts" in subject.title)
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def main() -> int:
    """Measures the subjects named, or all."""
    names = sys.argv[1:] or list(SUBJECTS)
    if unknown := [name for name in names if name not in SUBJECTS]:
        print(f"unknown: {' '.join(unknown)}; known: {' '.join(SUBJECTS)}", file=sys.stderr)
        return 2
    head, _, earlier = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    parts = {part.split("\n", 1)[0]: part.rstrip() + "\n" for part in re.split(r"(?m)^(?=## )", earlier)[1:]}
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "jax", "numpyro", "polars"))
    machine = (
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {packages}; load {os.getloadavg()[0]:.1f}.\n"
    )
    for name in names:
        part = table(SUBJECTS[name]())
        print(part, flush=True)
        parts[part.split("\n", 1)[0]] = part.rstrip() + "\n"
        pages = "\n".join(parts.values())
        PAGE.write_text(f"{head}{BEGIN}\nMachine of the last run: {machine}\n{pages}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
