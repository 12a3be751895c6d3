"""Plans, monitors and validations for a terminal, and the words that stand for their figures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
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
from probtruth.study.monitor_state import Monitor
from probtruth.study.plan import Plan
from probtruth.study.validate import Validation

HEADS = {
    "coverage": "95% holds it", "width": "width", "decides": "decides", "wrong_sign": "wrong sign",
    "exaggeration": "exaggerates",
}  # fmt: skip


SIZES = {"n_items": "items", "n_annotators": "annotators", "n_clusters": "clusters", "n_replicates": "replicates"}


def validation_summary(validation: Validation) -> tuple[RenderableType, ...]:
    """Headline, the table of true differences, what it cannot show, and warnings."""
    head = (
        f"{plain(validation.a)} minus {plain(validation.b)}: studies of {count(validation.n_items, 'item')}, drawn "
        f"from these items {validation.replications:,} times for each true difference."
    )
    table = _grid("true difference", *HEADS.values())
    places = decimals([abs(float(row["difference"] or 0)) for row in validation.rows])
    for row in validation.rows:
        shares = {name: _share(row, name) for name in ("coverage", "decides", "wrong_sign")}
        exaggerates = "" if row["exaggeration"] is None else f"{row['exaggeration']:.2f}x"
        cells = shares | {"width": significant(row["width"], 3), "exaggeration": exaggerates}
        table.add_row(fixed(row["difference"], places, sign=True), *(cells[name] for name in HEADS))
    return (Text(head, "bold"), table, Text(validation.note), *_warnings(validation))


def _grid(*heads: str) -> Table:
    """Rows in columns, with the numbers of all columns but the first flush right where these have heads."""
    table = Table(box=None, show_header=bool(heads), pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head in heads:
        table.add_column(head, justify="left" if head == heads[0] else "right")
    return table


def _warnings(shown: Plan | Monitor | Validation) -> Iterator[Text]:
    return (Text(f"! {line}", style="yellow") for line in shown.warnings)


def _share(row: Mapping[str, Any], name: str) -> str:
    """A share with its Monte Carlo standard error."""
    if row[name] is None:
        return ""
    return f"{fixed(row[name], 3)} ± {fixed(row[f'{name}_error'], 3)}"


def monitor_headline(watch: Monitor) -> str:
    """The decision so far, in a sentence."""
    a, b = plain(watch.a), plain(watch.b)
    if watch.decision == "equivalent":
        return f"{a} and {b} are equivalent: they differ by {exact(watch.rope)} at most."
    if watch.decision is None:
        return f"No decision yet between {a} and {b}: the answer may go either way."
    better, worse = (a, b) if watch.decision == "a" else (b, a)
    return f"{better} is better than {worse}."


def monitor_summary(watch: Monitor) -> tuple[RenderableType, ...]:
    """Headline, numbers and warnings."""
    rows = _grid()
    for words in _rows(watch):
        rows.add_row(*map(Text, words))
    headline = Text(monitor_headline(watch), "bold" if watch.decision else "bold yellow")
    return (headline, rows, *_warnings(watch))


def _rows(watch: Monitor) -> Iterator[tuple[str, str]]:
    units = f", {count(watch.n_units, 'cluster')}" if watch.clusters is not None else ""
    yield "items", f"{watch.n_items:,}{units}"
    if watch.difference is None:
        return
    low, high = watch.interval
    places = decimals([high - low])
    pair = f"{plain(watch.a)} minus {plain(watch.b)}; {favouring_a(watch.higher_is_better)} favours {plain(watch.a)}"
    yield "mean difference", f"{fixed(watch.difference, places, sign=True)} ({pair})"
    yield f"{exact(100 * (1 - watch.alpha))}% at all times", interval(low, high, places)
    for name, value in ((watch.a, watch.e_a_better), (watch.b, watch.e_b_better)):
        yield f"evidence for {plain(name)}", f"e-value {significant(value, 3)}"
    yield "p-value at any time", equals(watch.p_value).removeprefix("= ")
    if watch.p_a_better is not None:
        p = probability(watch.p_a_better)
        yield f"posterior P({plain(watch.a)} better)", f"{p} (as if this were the only look)"


def monitor_notes(watch: Monitor) -> Iterator[str]:
    """What was left out of the last batch."""
    if watch.skipped:
        yield f"{count(watch.skipped, 'item')} known already: skipped"
    if watch.waiting:
        yield f"{count(watch.waiting, 'item')} left for later: only one of the two models has a score"
    pending = len(watch.differences) - watch.n_items
    if pending:
        yield f"{count(pending, 'item')} of the last cluster wait until the next begins, or for --close"


def _size(row: Mapping[str, Any]) -> str:
    words = [count(round(row["n_items"]), "item")]
    words += [f"in {count(round(row['n_clusters']), 'cluster')}"] if row["n_clusters"] is not None else []
    words += [f"with {_few(row['n_annotators'])} annotations each"] if row["n_annotators"] is not None else []
    words += [f"and {_few(row['n_replicates'])} replicates"] if row["n_replicates"] != 1 else []
    return " ".join(words)


def _few(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.1f}"


def plan_summary(plan: Plan) -> tuple[RenderableType, ...]:
    """The study in words, the table of designs, and warnings."""
    unsaid = {"n_annotators": None, "n_clusters": None, "n_replicates": 1}
    shown = [name for name in SIZES if any(row[name] != unsaid.get(name, "") for row in plan.designs)]
    priced = any(row["cost"] is not None for row in plan.designs)
    heads = ("design", *(SIZES[name] for name in shown), "width", "P(decides)", *(["cost"] if priced else []))
    table = _grid(*heads)
    designs: Sequence[Mapping[str, Any]] = plan.designs
    for row in designs:
        cells = [row["design"], *("" if row[name] is None else _few(row[name]) for name in shown)]
        cells += [significant(row["width"], 3), probability(row["p_certain"])]
        table.add_row(*cells, *([significant(row["cost"], 4)] if priced else []))
    said = (
        f"A study of {_size(row)} says with certainty {exact(plan.certainty)} which is better, {plain(plan.a)} or "
        f"{plain(plan.b)}, with probability {probability(row['p_certain'])}; its 95% interval is expected to be "
        f"{significant(row['width'], 3)} wide."
        for row in designs
        if row["design"] == "study"
    )
    return (Text(" ".join(said), "bold"), table, *_warnings(plan))
