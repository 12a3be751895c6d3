"""`probtruth monitor`: two models as their scores come in."""

from pathlib import Path
from typing import Annotated, Any

from probtruth.cli import options as opt
from probtruth.cli.console import check_plot, write_plot
from probtruth.errors import InputError


def monitor(
    pair: opt.Pair,
    shown: opt.Printed,
    scores: Annotated[str, opt.argument(metavar="SCORES", help="A table of scores: item, model, score.")],
    state: Annotated[str, opt.input_(metavar="FILE", help="What the monitor has seen; made at the first call.")],
    bounds: opt.Bounds = None,
    method: Annotated[
        str | None, opt.model_(metavar="betting|asymptotic", help="asymptotic: for scores that nothing bounds.")
    ] = None,
    alpha: opt.Alpha = None,
    rope: opt.Rope = None,
    higher_is_better: opt.HigherIsBetter = None,
    item: opt.Item = "item",
    model: opt.Model = "model",
    score: opt.Score = "score",
    cluster: opt.Cluster = None,
    largest_cluster: Annotated[
        int | None, opt.input_(metavar="N", help="The most items that a cluster can have.")
    ] = None,
    close: Annotated[bool, opt.input_("--close", help="The last cluster is complete.")] = False,
    plot: opt.Plot = None,
) -> None:
    """Compare two models while scores come in. Look as often as you like; known items are skipped."""
    from probtruth.io.output.folder import check_file
    from probtruth.io.tables.read import read_table
    from probtruth.report.formats import terminal_study as words
    from probtruth.study.monitor import monitor
    from probtruth.study.monitor_file import is_state, read_monitor, write_monitor

    console = shown.console()
    columns: dict[str, Any] = {"item": item, "model": model, "score": score, "cluster": cluster}
    options: dict[str, Any] = {
        "bounds": bounds,
        "method": method,
        "alpha": alpha,
        "rope": rope,
        "a": pair.a,
        "b": pair.b,
        "close": close,
    }
    options |= {"largest_cluster": largest_cluster, "higher_is_better": higher_is_better}
    check_file(state, is_state)
    check_plot(plot)
    before = _content(state)
    earlier = read_monitor(state) if before else None
    frame, source = read_table(scores)
    watched = monitor(frame, earlier, **columns, **options, source=source)
    if _content(state) != before:
        raise InputError("a state that another run changed meanwhile", "one run at a time", "Run it again.", state)
    write_monitor(watched, state)
    write_plot(plot, "monitor", watched, "The mean difference over time", words.monitor_words)
    for note in words.monitor_notes(watched):
        console.note(note)
    console.show(*words.monitor_summary(watched))
    console.emit(watched.to_dict())


def _content(state: str) -> bytes:
    path = Path(state)
    return path.read_bytes() if path.is_file() else b""
