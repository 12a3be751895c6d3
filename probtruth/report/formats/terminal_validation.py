"""A validation for a terminal, and the words that stand for its figure."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from probtruth.report.words.numbers import count, decimals, exact, fixed, plain, significant
from probtruth.study.validation import Validation

TRUTHS = {"none": "none", "half": "half of that", "given": "as asked", "drawn": "drawn, sd 2 SE"}
HEADS = {
    "coverage": "95% holds it", "width": "width", "decides": "decides", "wrong_sign": "wrong sign",
    "exaggeration": "exaggerates",
}  # fmt: skip


def validation_words(found: Validation) -> str:
    """What a reader who cannot see the figure needs."""
    row = next(row for row in found.rows if row["truth"] == "drawn")
    calibration = found.calibration
    return (
        f"In studies like this the 95% interval holds the true difference in {_share(row, 'coverage')} and P(a better) "
        f"is off by {fixed(calibration['error'], 3)} on average (were it perfect, by chance alone, by "
        f"{fixed(calibration['by_chance'], 3)})."
    )


def validation_summary(found: Validation) -> tuple[RenderableType, ...]:
    """Headline, the table of true differences, probabilities, the monitor and warnings."""
    units = f" in {count(found.n_units, 'cluster')}" if found.clustered else ""
    units += f" in {count(found.n_groups, 'group')}" if found.n_groups > 1 else ""
    head = (
        f"{plain(found.a)} minus {plain(found.b)}: studies of {count(found.n_items, 'item')}{units}, drawn from these "
        f"items {found.replications:,} times for each true difference."
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("true difference")
    for name in HEADS.values():
        table.add_column(name, justify="right")
    places = decimals([found.standard_error])
    given = {row["truth"]: row for row in found.rows}
    for row in (given[name] for name in ("none", "half", "given", "drawn")):
        truth = TRUTHS[str(row["truth"])] if row["difference"] is None else fixed(row["difference"], places, sign=True)
        table.add_row(truth, *_cells(row))
    lines = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for words in _lines(found):
        lines.add_row(*words)
    return (Text(head, "bold"), table, lines, *(Text(f"! {line}", style="yellow") for line in found.warnings))


def _cells(row: Mapping[str, Any]) -> Iterator[str]:
    yield _share(row, "coverage")
    yield significant(row["width"], 3)
    yield _share(row, "decides")
    yield _share(row, "wrong_sign")
    yield "" if row["exaggeration"] is None else f"{row['exaggeration']:.2f}x"


def _lines(found: Validation) -> Iterator[tuple[str, str]]:
    one, watch = found.calibration, found.monitor
    yield "P(a better) is off by", f"{_share(one, 'error')}, were it perfect {fixed(one['by_chance'], 3)} by chance"
    yield "wrong where P is above .975", _share(one, "wrong_when_sure")
    yield (
        f"monitor, {watch['method']}",
        (
            f"false alarms {_share(watch, 'false_alarms')} at a nominal {exact(watch['alpha'])} "
            f"over {watch['n_items']:,} items"
        ),
    )
    median = watch["median_items"]
    after = "" if median is None else f", half of the time after {float(str(median)):,.0f} items"
    yield "", f"at the true difference asked for it decides in {_share(watch, 'decides')}{after}"


def _share(row: Mapping[str, Any], name: str) -> str:
    """A share with its Monte Carlo standard error."""
    if row[name] is None:
        return ""
    return f"{fixed(row[name], 3)} ± {fixed(row[f'{name}_error'], 3)}"
