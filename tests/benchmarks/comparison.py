"""compare() at growing numbers of items, warm, and in a process that starts cold."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

import probtruth as pt
from tests.benchmarks.measure import Process, Section, Work, of_processes, optional

MODELS, GROUPS = 5, 20
COLD = """
import numpy as np, probtruth as pt
from tests.benchmarks.comparison import scores
from tests.benchmarks.comparison import groups
pt.compare(scores({n_items}), groups({n_items}) if {grouped} else None, engine={engine!r})
"""


@cache
def scores(n_items: int) -> pt.Scores:
    """Losses of five models that differ a little."""
    rng = np.random.default_rng(0)
    hard = rng.gamma(2.0, 0.5, n_items)
    values = np.stack([hard * rng.uniform(0.5, 1.5, n_items) + 0.01 * model for model in range(MODELS)])
    return pt.Scores(values, tuple("abcde"), tuple(map(str, range(n_items))), "loss")


@cache
def groups(n_items: int) -> list[str]:
    """Twenty groups of equal size."""
    return [str(item % GROUPS) for item in range(n_items)]


def warm() -> Section:
    """The second and later comparisons in a process."""
    works = [
        Work(f"{n:,} items, {engine}", lambda n=n, engine=engine: pt.compare(scores(n), groups(n), engine=engine), goal)
        for engine in ("nuts", "exact")
        for n, goal in ((1_000, ""), (100_000, "<= 1.2 x the same at 1,000"), (1_000_000, ""))
    ]
    text = f"{MODELS} models, {GROUPS} groups; ratios to the smallest. The cost that grows is one pass over the scores."
    return Section("compare(), warm", text, works, rounds=3)


def many_groups() -> Section:
    """The exact engine on the largest designs that are asked of it, and what the sampler yields."""
    rng = np.random.default_rng(0)

    def work(n_models: int, n_groups: int, engine: str) -> Work:
        n_items = 10 * n_groups
        values = rng.gamma(2.0, 0.5, n_items) * rng.uniform(0.5, 1.5, (n_models, n_items))
        found = pt.Scores(values, tuple(f"m{k}" for k in range(n_models)), tuple(map(str, range(n_items))), "loss")
        group = [str(item % n_groups) for item in range(n_items)]
        drawn = pt.compare(found, group, engine=engine).diagnostics["min_ess"]
        least = f", least effective draws {drawn:,.0f}" if drawn else ""
        name = f"{n_models} models, {n_groups:,} groups, {engine}{least}"
        return Work(name, lambda: pt.compare(found, group, engine=engine))

    works = [work(2, 200, "exact"), work(10, 2000, "exact"), work(5, 20, "nuts"), work(10, 2000, "nuts")]
    text = "Ten items a group, warm. Everything that compare() does, companions and sensitivity included."
    return Section("compare(), many groups", text, works, rounds=3)


def cold() -> Section:
    """A process that imports, compiles and compares once."""

    rows = [Work("python -c 'import jax, numpyro, arviz'", Process("import jax, numpyro, arviz"))]
    for n_items, engine in ((10_000, "nuts"), (10_000, "exact"), (1_000_000, "exact")):
        code = COLD.format(n_items=n_items, engine=engine, grouped=False)
        rows.append(Work(f"import, compare {n_items:,} items, {engine}", Process(code)))
    return Section("compare(), cold process", f"{MODELS} models, no groups.", rows, rounds=3)


def first_answer() -> Section:
    """`probtruth run` on small files to the printed verdict, without a report."""
    folder = Path(tempfile.mkdtemp())
    rng, items = np.random.default_rng(0), range(200)
    write = {name: (folder / f"{name}.csv").write_text for name in ("labels", "a", "b", "groups")}
    votes = (
        f"{item},{who},{'yes' if rng.random() < 0.3 + 0.4 * (item % 2) else 'no'}" for item in items for who in "xyz"
    )
    write["labels"]("item,annotator,label\n" + "\n".join(votes) + "\n")
    for name in "ab":
        rows = (f"{item},{yes},{1 - yes}" for item, yes in enumerate((rng.integers(1, 64, len(items)) / 64).tolist()))
        write[name]("item,yes,no\n" + "\n".join(rows) + "\n")
    write["groups"]("item,group\n" + "".join(f"{item},{item % GROUPS}\n" for item in items))
    quiet = {"XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR", "PYTHONDONTWRITEBYTECODE"}
    environment = {name: value for name, value in os.environ.items() if name not in quiet}

    def process(words: Sequence[str], cache: str = "off") -> Callable[[], object]:
        own = environment | {"PROBTRUTH_CACHE": cache}
        return lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True, env=own)

    files = ["--annotations", str(folder / "labels.csv")]
    files += [word for name in "ab" for word in ("--predictions", f"{name}={folder / name}.csv")]
    run = ["-m", "probtruth", "run", *files]
    grouped = [*run, "--groups", f"{folder / 'groups.csv'}:group"]
    works = [
        Work("python -c 'import jax, numpyro, arviz'", process(["-c", "import jax, numpyro, arviz"])),
        Work("**run**, no groups", process(run), "<= 1.3"),
        Work(f"**run**, {GROUPS} groups", process(grouped), "<= 2.2"),
        Work(f"**run**, {GROUPS} groups, compiled before", process(grouped, str(folder / "cache")), "<= 1.6"),
    ]
    text = f"Two models, {len(items)} items, CSV; until the verdict is printed, without a report. Processor time."
    return Section("The first answer of a new process", text, works, rounds=3, clock=of_processes)


def two_models() -> Section:
    """Two models' scores on resampled folds, where baycomp has an answer."""
    rng = np.random.default_rng(0)
    values = rng.normal(0.7, 0.05, (2, 100))
    pair = pt.Scores(values, ("a", "b"), tuple(map(str, range(100))), "accuracy")
    works = [
        Work("**compare**, exact engine", lambda: pt.compare(pair, engine="exact")),
        Work("**compare**, nuts", lambda: pt.compare(pair)),
    ]
    baycomp = optional("baycomp")
    if baycomp:
        works.append(Work("baycomp two_on_single (correlated t, closed form)", lambda: baycomp.two_on_single(*values)))
    skipped = [] if baycomp else ["baycomp"]
    text = "100 items. baycomp gives one pair's three probabilities, compare() the whole joint posterior."
    return Section("Two models", text, works, rounds=5, skipped=skipped)


PYMC = """
import warnings; warnings.simplefilter("ignore")
import numpy as np, nutpie, pymc as pm
from tests.benchmarks.comparison import scores, groups
n = {n_items}
table, group = scores(n).values, np.array(groups(n), int)
contrasts = (table[1:] - table[0]).T
contrasts = contrasts / contrasts.std(0)
with pm.Model() as model:
    mu = pm.Normal("mu", 0, 1, shape=4)
    tau = pm.HalfNormal("tau", 1)
    theta = pm.Normal("theta", mu, tau, shape=(20, 4))
    sigma = pm.HalfNormal("sigma", 2, shape=4)
    pm.Normal("y", theta[group], sigma, observed=contrasts)
nutpie.sample(nutpie.compile_pymc_model(model), chains=4, draws=500, tune=500, seed=0, progress_bar=False)
"""


def by_items() -> Section:
    """The same question asked of all items by a general sampler."""

    rows = []
    for n_items in (10_000, 100_000):
        code = COLD.format(n_items=n_items, engine="nuts", grouped=True)
        rows.append(Work(f"import, **compare** {n_items:,} items, nuts", Process(code)))
        if optional("nutpie"):
            rows.append(Work(f"import, PyMC + nutpie, {n_items:,} items", Process(PYMC.format(n_items=n_items))))
    skipped = [] if optional("nutpie") else ["PyMC + nutpie"]
    text = (
        f"{MODELS} models, {GROUPS} groups, a process each. PyMC has the hierarchical normal model of the items' "
        "contrasts (independent of each other), 4 chains of 500 draws; ours has the sufficient statistics."
    )
    return Section("compare() and a sampler over the items, cold", text, rows, rounds=2, skipped=skipped)


def million(n_items: int = 1_000_000) -> Section:
    """The same at a million items, once: a general sampler takes minutes."""
    rows = [
        Work(f"import, **compare** {engine}", Process(COLD.format(n_items=n_items, engine=engine, grouped=True)), goal)
        for engine, goal in (("nuts", ""), ("exact", ""))
    ]
    rows.append(Work("**compare** exact, warm", lambda: pt.compare(scores(n_items), groups(n_items), engine="exact")))
    if optional("nutpie"):
        rows.append(Work("import, PyMC + nutpie", Process(PYMC.format(n_items=n_items)), ">= 50; 1,000 x exact"))
    skipped = [] if optional("nutpie") else ["PyMC + nutpie"]
    text = f"As above, {n_items:,} items; one run of each."
    return Section(f"compare() and a sampler over {n_items:,} items", text, rows, 1, skipped, warm_up=False)
