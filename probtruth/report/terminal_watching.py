"""Monitors for a terminal, and the words that stand for their figures."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from probtruth.comparison.monitored import Monitor
from probtruth.report.numbers import count, decimals, equals, exact, fixed, interval, plain, probability, significant


def monitor_headline(watch: Monitor) -> str:
    """The decision so far, in a sentence."""
    a, b = plain(watch.a), plain(watch.b)
    if watch.decision == "equivalent":
        return f"{a} and {b} are equivalent: they differ by {exact(watch.rope)} at most."
    if watch.decision is None:
        return f"No decision yet between {a} and {b}: the answer may go either way."
    better, worse = (a, b) if watch.decision == "a" else (b, a)
    return f"{better} is better than {worse}."


def monitor_words(watch: Monitor) -> str:
    """What a reader who cannot see the figure needs."""
    if watch.difference is None:
        return monitor_headline(watch)
    low, high = watch.interval
    places = decimals([high - low])
    return (
        f"{monitor_headline(watch)} After {count(watch.n_items, 'item')} the mean difference "
        f"({plain(watch.a)} minus {plain(watch.b)}, negative favours {plain(watch.a)}) is "
        f"{fixed(watch.difference, places, sign=True)}; the confidence sequence at {exact(1 - watch.alpha)} is "
        f"{interval(low, high, places)}."
    )


def monitor_summary(watch: Monitor) -> tuple[RenderableType, ...]:
    """Headline, numbers and warnings."""
    parts: list[RenderableType] = [Text(monitor_headline(watch), "bold" if watch.decision else "bold yellow")]
    rows = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for words in _rows(watch):
        rows.add_row(*map(Text, words))
    return (*parts, rows, *(Text(f"! {line}", style="yellow") for line in watch.warnings))


def _rows(watch: Monitor) -> Iterator[tuple[str, str]]:
    units = f", {count(watch.n_units, 'cluster')}" if watch.clusters is not None else ""
    yield "items", f"{watch.n_items:,}{units}"
    if watch.difference is None:
        return
    low, high = watch.interval
    places = decimals([high - low])
    yield "mean difference", f"{fixed(watch.difference, places, sign=True)} ({plain(watch.a)} minus {plain(watch.b)})"
    yield f"{exact(100 * (1 - watch.alpha))}% at all times", interval(low, high, places)
    for name, value in ((watch.a, watch.e_a_better), (watch.b, watch.e_b_better)):
        yield f"evidence for {plain(name)}", f"e-value {significant(value, 3)}"
    yield "p-value at any time", equals(watch.p_value).removeprefix("= ")
    if watch.p_a_better is not None:
        yield (
            f"posterior P({plain(watch.a)} better)",
            f"{probability(watch.p_a_better)} (as if this were the only look)",
        )


def monitor_notes(watch: Monitor) -> Iterator[str]:
    """What was left out of the last batch."""
    if watch.skipped:
        yield f"{count(watch.skipped, 'item')} known already: skipped"
    if watch.waiting:
        yield f"{count(watch.waiting, 'item')} left for later: only one of the two models has a score"
    pending = len(watch.differences) - watch.n_items
    if pending:
        yield f"{count(pending, 'item')} of the last cluster wait until the next begins, or for --close"
