"""The tables of `docs/validity/monitor.md` as a figure: `python tests/slow/monitor_figure.py`."""

from pathlib import Path

import numpy as np

from probtruth.report.plots.axes import BLUE, DASHES, INK, RED, panel, text
from probtruth.report.plots.svg import picture, plain_style

DOCS = Path(__file__).parents[2] / "docs"
NOMINAL, STREAMS = 0.05, 2000


def rows() -> list[tuple[str, float, bool]]:
    """Each kind of differences, its false alarms, and whether they are bounded."""
    found, bounded = [], True
    for line in (DOCS / "validity" / "monitor.md").read_text(encoding="utf-8").splitlines():
        bounded = bounded and not line.startswith("## Unbounded")
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[1].startswith("."):
            found.append((cells[0], float(cells[1]), bounded))
    return found


def main() -> None:
    found = rows()
    with plain_style():
        ax = panel(None, "share of streams with a false alarm", "", height=60 + 24 * len(found), left=190)
        ax.axvline(NOMINAL, color=INK, linewidth=1, linestyle=DASHES)
        for place, (_, share, bounded) in enumerate(found):
            error = 1.96 * np.sqrt(share * (1 - share) / STREAMS)
            colour = BLUE if bounded else RED
            ax.plot([share - error, share + error], [place, place], color=colour, linewidth=2)
            ax.plot(share, place, "o", color=colour, markersize=6)
        ax.set_yticks(range(len(found)), [name for name, _, _ in found])
        ax.set_ylim(len(found) - 0.4, -0.9)
        ax.set_xlim(0, 0.06)
        text(ax, NOMINAL, -0.6, "nominal", INK, "left", shift=(4, 0), size=12)
        words = "; ".join(f"{name} {share:.3f}" for name, share, _ in found)
        made = picture(ax, "alarms", "False alarms of the monitor", f"All lie below 0.05: {words}.")
    (DOCS / "images" / "monitor-alarms.svg").write_text(made.alone, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
