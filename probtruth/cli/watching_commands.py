"""What the commands before and during a study do: read, call, print or write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probtruth.cli import logs
from probtruth.cli.commands import Columns
from probtruth.cli.console import Console as Console
from probtruth.errors import InputError


def monitor(
    path: str,
    state: str,
    columns: Mapping[str, Any],
    options: Mapping[str, Any],
    plot: str | None,
    console: Console,
) -> None:
    """Feeds a file to the monitor whose state is kept, and says what is known now."""
    from probtruth.io.output.folder import check_file
    from probtruth.io.tables.read import read_table
    from probtruth.report.formats import terminal_watching
    from probtruth.study.monitor import monitor as feed
    from probtruth.study.monitor_file import is_state, read_monitor, write_monitor

    check_file(state, is_state)
    if plot is not None:
        check_file(plot, _is_figure)
    place = Path(state)
    before = place.read_bytes() if place.is_file() else b""
    earlier = read_monitor(state) if before else None
    frame, source = read_table(path)
    watch = feed(frame, earlier, **columns, **options, source=source)
    if (place.read_bytes() if place.is_file() else b"") != before:
        raise InputError("a state that another run changed meanwhile", "one run at a time", "Run it again.", state)
    write_monitor(watch, state)
    if plot is not None:
        _draw_monitor(watch, plot)
    for note in terminal_watching.monitor_notes(watch):
        console.note(note)
    console.show(*terminal_watching.monitor_summary(watch))
    console.emit(watch.to_dict())


@dataclass(frozen=True)
class Pilot:
    """The files of a pilot: scores, or annotations and predictions."""

    scores: str | None
    columns: Mapping[str, Any]
    higher: bool | None
    annotations: str | None
    predictions: Sequence[str]
    rule: str
    kind: str

    def read(self) -> tuple[Any, Any]:
        """The scores; and the annotations behind them where the same few annotators judged all items, else None."""
        if (self.scores is None) == (self.annotations is None):
            raise InputError(
                "both SCORES and --annotations" if self.scores else "no pilot", "one of the two",
                "Give a table of scores, or --annotations and --predictions.",
            )  # fmt: skip
        if self.scores is not None:
            from probtruth.io.scores import read_scores

            return read_scores(self.scores, **self.columns, higher_is_better=self.higher), None
        from probtruth.comparison.evidence.crossed import same_few
        from probtruth.io.predictions import model_files, read_predictions_pairs
        from probtruth.scoring.score import score
        from probtruth.truth.infer import infer_truth

        item = self.columns["item"]
        files = model_files(self.predictions)
        columns = Columns(item, "annotator", "label", "replicate")
        annotations = logs.read_annotations(str(self.annotations), columns, "auto", files[0][1])
        predictions = read_predictions_pairs(files, annotations.index, item, self.kind)
        annotations = annotations.annotated()[0]
        scores = score(predictions, infer_truth(annotations, method="vote-share"), rule=self.rule)
        return scores, annotations if same_few(annotations) else None


def plan(pilot: Pilot, options: Mapping[str, Any], costs: Sequence[str], plot: str | None, console: Console) -> None:
    """What a study would show."""
    from probtruth.io.output.folder import check_file
    from probtruth.report.formats import terminal_watching
    from probtruth.study.plan import plan as make

    if plot is not None:
        check_file(plot, _is_figure)
    with console.progress("planning"):
        made = make(pilot.read()[0], costs=_prices(costs), **options)
    if plot is not None:
        from probtruth.figures import plot_plan
        from probtruth.report.plots.svg import plain_style

        with plain_style():
            ax = plot_plan(made, "chance" if made.width is None else "width")
        _write_figure(ax, "plan", "What studies of each size would show", terminal_watching.plan_words(made), plot)
    console.show(*terminal_watching.plan_summary(made))
    console.emit(made.to_dict())


def validate(pilot: Pilot, options: Mapping[str, Any], plot: str | None, console: Console) -> None:
    """How far to trust an answer on this design."""
    from probtruth.io.output.folder import check_file
    from probtruth.report.formats import terminal_validation
    from probtruth.study.validate import validate as run

    if plot is not None:
        check_file(plot, _is_figure)
    scores, annotations = pilot.read()
    with console.progress("studies") as on_progress:
        found = run(scores, annotations=annotations, **options, on_progress=on_progress)
    if plot is not None:
        from probtruth.figures import plot_validation
        from probtruth.report.plots.svg import plain_style

        with plain_style():
            ax = plot_validation(found)
        _write_figure(ax, "validation", "What probabilities meant", terminal_validation.validation_words(found), plot)
    console.show(*terminal_validation.validation_summary(found))
    console.emit(found.to_dict())


def _prices(costs: Sequence[str]) -> dict[str, float] | None:
    prices: dict[str, float] = {}
    for entry in costs:
        name, _, price = entry.rpartition("=")
        try:
            prices[name] = float(price)
        except ValueError:
            raise InputError(
                f"cost {entry!r}", "WHAT=PRICE", "For example --cost item=1 --cost annotation=0.1."
            ) from None
    return prices or None


def _draw_monitor(watch: Any, plot: str) -> None:
    from probtruth.figures import plot_monitor
    from probtruth.report.formats.terminal_watching import monitor_words
    from probtruth.report.plots.svg import plain_style

    with plain_style():
        ax = plot_monitor(watch)
    _write_figure(ax, "monitor", "The mean difference over time", monitor_words(watch), plot)


def _write_figure(ax: Any, name: str, title: str, description: str, plot: str) -> None:
    from probtruth.io.output.folder import whole_file
    from probtruth.report.plots.svg import picture

    made = picture(ax, name, title, description)
    with whole_file(plot, _is_figure) as work:
        work.write_text(made.alone, encoding="utf-8", newline="\n")


OURS = tuple(f'id="{name}-title"'.encode() for name in ("monitor", "plan", "validation"))


def _is_figure(path: Path) -> bool:
    """Whether a file is a figure of ours: SVG with the ids that `picture` gives."""
    try:
        with path.open("rb") as stream:
            head = stream.read(2000)
    except OSError:
        return False
    return b"<svg" in head and any(name in head for name in OURS)
