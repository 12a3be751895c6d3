"""Plans, monitors and validations for a terminal, and the words that stand for their figures."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from probtruth.check import count
from probtruth.report.names import plain
from probtruth.report.numbers import (
    decimals,
    equals,
    exact,
    favouring_a,
    fixed,
    interval,
    probability,
    significant,
)
from probtruth.report.tables import Table, of_rows
from probtruth.report.terminal import grid, marked_warnings
from probtruth.study.monitor_state import Monitor
from probtruth.study.plan import Plan
from probtruth.study.validate import Validation
from probtruth.types.comparison import Row

SIZES = {
    "n_items": "items",
    "n_annotators": "annotators",
    "n_clusters": "clusters",
    "n_replicates": "replicates",
    "n_panel": "people or seeds",
}
UNSAID = {
    "n_annotators": None,
    "n_clusters": None,
    "n_replicates": 1,
    "n_panel": None,
}  # Sizes that a design without any has


def validation_summary(validation: Validation) -> tuple[RenderableType, ...]:
    """Headline, the table of true differences, what it cannot show, and warnings."""
    head = (
        f"{plain(validation.a)} minus {plain(validation.b)}: studies of {count(validation.n_items, 'item')}, drawn "
        f"from these items {validation.replications:,} times for each true difference."
    )
    warnings = marked_warnings(validation.warnings)
    return (Text(head, "bold"), grid(validation_table(validation)), Text(validation.note), *warnings)


def validation_table(validation: Validation) -> Table:
    """One row for each true difference."""
    places = decimals([abs(float(row["difference"] or 0)) for row in validation.rows])
    rows = [
        {
            "true difference": fixed(row["difference"], places, sign=True),
            "95% holds it": _share(row, "coverage"),
            "width": significant(row["width"], 3),
            "decides": _share(row, "decides"),
            "wrong sign": _share(row, "wrong_sign"),
            "exaggerates": "" if row["exaggeration"] is None else f"{row['exaggeration']:.2f}x",
        }
        for row in validation.rows
    ]
    return of_rows("", rows)


def _share(row: Row, name: str) -> str:
    """A share with its Monte Carlo error."""
    if row[name] is None:
        return ""
    return f"{fixed(row[name], 3)} ± {fixed(row[f'{name}_error'], 3)}"


def monitor_headline(watch: Monitor) -> str:
    a, b = plain(watch.a), plain(watch.b)
    return {
        None: f"No decision yet between {a} and {b}: the answer may go either way.",
        "equivalent": f"{a} and {b} are equivalent: they differ by {exact(watch.rope)} at most.",
        "a": f"{a} is better than {b}.",
        "b": f"{b} is better than {a}.",
    }[watch.decision]


def monitor_summary(watch: Monitor) -> tuple[RenderableType, ...]:
    headline = Text(monitor_headline(watch), "bold" if watch.decision else "bold yellow")
    numbers = [Text(f"{what}: {value}") for what, value in _numbers(watch)]
    return (headline, *numbers, *marked_warnings(watch.warnings))


def _numbers(watch: Monitor) -> Iterator[tuple[str, str]]:
    units = "" if watch.clusters is None else f", {count(watch.n_units, 'cluster')}"
    yield "items", f"{watch.n_items:,}{units}"
    if watch.difference is None:
        return
    a, b = plain(watch.a), plain(watch.b)
    low, high = watch.interval
    places = decimals([high - low])
    favours = favouring_a(watch.higher_is_better)
    size = fixed(watch.difference, places, sign=True)
    yield "mean difference", f"{size} ({a} minus {b}; {favours} favours {a})"
    level = exact(100 * (1 - watch.alpha))
    yield f"{level}% at all times", interval(low, high, places)
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


def plan_headline(plan: Plan) -> str:
    """What the study of each size that was asked for would show."""
    said = f"says with certainty {exact(plan.certainty)} which is better, {plain(plan.a)} or {plain(plan.b)}"
    studies = [
        f"A study of {_size(row)} {said}, with probability {probability(row['p_certain'])}; its 95% interval is "
        f"expected to be {significant(row['width'], 3)} wide."
        for row in plan.designs
        if row["design"] == "study"
    ]
    return " ".join(studies)


def plan_table(plan: Plan) -> Table:
    """One row for each design; sizes that no design has are left out."""
    shown = {}
    for name, head in SIZES.items():
        sizes = [row[name] for row in plan.designs]
        if any(size != UNSAID.get(name, "") for size in sizes):
            shown[name] = head
    rows = []
    for row in plan.designs:
        cells = {"design": row["design"]}
        for name, head in shown.items():
            cells[head] = "" if row[name] is None else _number(row[name])
        cells["width"] = significant(row["width"], 3)
        cells["power"] = probability(row["p_certain"])
        cells["cost"] = significant(row["cost"], 4)
        rows.append(cells)
    return of_rows("", rows)


def plan_summary(plan: Plan) -> tuple[RenderableType, ...]:
    return (Text(plan_headline(plan), "bold"), grid(plan_table(plan)), *marked_warnings(plan.warnings))


def _size(row: Row) -> str:
    """The size of a study in words."""
    words: list[str] = [count(round(row["n_items"]), "item")]
    if row["n_clusters"] is not None:
        words.append(f"in {count(round(row['n_clusters']), 'cluster')}")
    if row["n_annotators"] is not None:
        words.append(f"with {_number(row['n_annotators'])} annotations each")
    if row["n_replicates"] != 1:
        words.append(f"and {_number(row['n_replicates'])} replicates")
    return " ".join(words)


def _number(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.1f}"
