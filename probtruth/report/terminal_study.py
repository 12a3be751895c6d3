"""Plans, monitors and validations for a terminal, and the words that stand for their figures."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from probtruth.check import count
from probtruth.report.numbers import (
    decimals,
    equals,
    exact,
    favouring_a,
    fixed,
    interval,
    plain,
    probability,
    significant,
)
from probtruth.report.table import Table
from probtruth.report.terminal import grid
from probtruth.study.monitor_state import Monitor
from probtruth.study.plan import Plan
from probtruth.study.validate import Validation

SIZES = {"n_items": "items", "n_annotators": "annotators", "n_clusters": "clusters", "n_replicates": "replicates"}


def _warnings(shown: Plan | Monitor | Validation) -> Iterator[Text]:
    return (Text(f"! {line}", style="yellow") for line in shown.warnings)


def validation_summary(validation: Validation) -> tuple[RenderableType, ...]:
    """Headline, the table of true differences (shares with Monte Carlo errors), what it cannot show, and warnings."""
    head = (
        f"{plain(validation.a)} minus {plain(validation.b)}: studies of {count(validation.n_items, 'item')}, drawn "
        f"from these items {validation.replications:,} times for each true difference."
    )
    rows = validation.rows
    places = decimals([abs(float(row["difference"] or 0)) for row in rows])

    def shares(name: str) -> list[str]:
        known = ((row[name], row[f"{name}_error"]) for row in rows)
        return ["" if share is None else f"{fixed(share, 3)} ± {fixed(error, 3)}" for share, error in known]

    columns = {
        "true difference": [fixed(row["difference"], places, sign=True) for row in rows],
        "95% holds it": shares("coverage"),
        "width": [significant(row["width"], 3) for row in rows],
        "decides": shares("decides"),
        "wrong sign": shares("wrong_sign"),
        "exaggerates": ["" if row["exaggeration"] is None else f"{row['exaggeration']:.2f}x" for row in rows],
    }
    return (Text(head, "bold"), grid(Table("", columns)), Text(validation.note), *_warnings(validation))


def monitor_headline(watch: Monitor) -> str:
    a, b = plain(watch.a), plain(watch.b)
    if watch.decision == "equivalent":
        return f"{a} and {b} are equivalent: they differ by {exact(watch.rope)} at most."
    if watch.decision is None:
        return f"No decision yet between {a} and {b}: the answer may go either way."
    better, worse = (a, b) if watch.decision == "a" else (b, a)
    return f"{better} is better than {worse}."


def monitor_summary(watch: Monitor) -> tuple[RenderableType, ...]:
    headline = Text(monitor_headline(watch), "bold" if watch.decision else "bold yellow")
    return (headline, *(Text(f"{what}: {value}") for what, value in _numbers(watch)), *_warnings(watch))


def _numbers(watch: Monitor) -> Iterator[tuple[str, str]]:
    units = f", {count(watch.n_units, 'cluster')}" if watch.clusters is not None else ""
    yield "items", f"{watch.n_items:,}{units}"
    if watch.difference is None:
        return
    a, b = plain(watch.a), plain(watch.b)
    low, high = watch.interval
    places = decimals([high - low])
    pair = f"{a} minus {b}; {favouring_a(watch.higher_is_better)} favours {a}"
    yield "mean difference", f"{fixed(watch.difference, places, sign=True)} ({pair})"
    yield f"{exact(100 * (1 - watch.alpha))}% at all times", interval(low, high, places)
    yield f"evidence for {a}", f"e-value {significant(watch.e_a_better, 3)}"
    yield f"evidence for {b}", f"e-value {significant(watch.e_b_better, 3)}"
    yield "p-value at any time", equals(watch.p_value).removeprefix("= ")
    if watch.p_a_better is not None:
        yield f"posterior P({a} better)", f"{probability(watch.p_a_better)} (as if this were the only look)"


def monitor_notes(watch: Monitor) -> Iterator[str]:
    if watch.skipped:
        yield f"{count(watch.skipped, 'item')} known already: skipped"
    if watch.waiting:
        yield f"{count(watch.waiting, 'item')} left for later: only one of the two models has a score"
    pending = len(watch.differences) - watch.n_items
    if pending:
        yield f"{count(pending, 'item')} of the last cluster wait until the next begins, or for --close"


def plan_summary(plan: Plan) -> tuple[RenderableType, ...]:
    unsaid = {"n_annotators": None, "n_clusters": None, "n_replicates": 1}
    designs = plan.designs
    columns = {"design": [row["design"] for row in designs]}
    for name, head in SIZES.items():
        varies = any(row[name] != unsaid.get(name, "") for row in designs)
        columns[head] = ["" if row[name] is None or not varies else _few(row[name]) for row in designs]
    columns["width"] = [significant(row["width"], 3) for row in designs]
    columns["P(decides)"] = [probability(row["p_certain"]) for row in designs]
    columns["cost"] = [significant(row["cost"], 4) for row in designs]
    said = (
        f"A study of {_size(row)} says with certainty {exact(plan.certainty)} which is better, {plain(plan.a)} or "
        f"{plain(plan.b)}, with probability {probability(row['p_certain'])}; its 95% interval is expected to be "
        f"{significant(row['width'], 3)} wide."
        for row in designs
        if row["design"] == "study"
    )
    return (Text(" ".join(said), "bold"), grid(Table("", columns)), *_warnings(plan))


def _size(row: Mapping[str, Any]) -> str:
    words = [count(round(row["n_items"]), "item")]
    words += [f"in {count(round(row['n_clusters']), 'cluster')}"] if row["n_clusters"] is not None else []
    words += [f"with {_few(row['n_annotators'])} annotations each"] if row["n_annotators"] is not None else []
    words += [f"and {_few(row['n_replicates'])} replicates"] if row["n_replicates"] != 1 else []
    return " ".join(words)


def _few(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.1f}"
