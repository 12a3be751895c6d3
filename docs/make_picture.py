"""Makes the README's picture from the demo data: `python docs/make_picture.py [FILE]`. Deterministic, no network."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import probtruth as pt
from probtruth import demo
from probtruth.report.numbers import equals
from probtruth.report.plots.axes import BLUE, INK, RED, SIZE
from probtruth.report.plots.svg import alone, inline, plain_style

WIDTH, HEIGHT = 880, 306
ITEMS = 9
"""Items that are shown: of those on which annotators disagree, some on which the models do too."""
ROPE = 0.01
SHOWN = ("nearest-neighbours", "logistic")
TEXT = (
    "From labels that people disagree about to a verdict: votes of annotators on nine images as shades by digit, "
    "beside the probabilities of two classifiers; and the posterior of how much higher the mean log loss of three "
    "classifiers is than that of the best, nearest-neighbours: about 0.09 for logistic and neural-network, 0.30 for "
    "support-vector."
)


def strip(ax: Axes, shares: np.ndarray, colour: str, title: str, labels: tuple[str, ...]) -> None:
    """Shares by item and label as shades of one colour."""
    n_items, n_labels = shares.shape
    for row in range(n_items):
        for label in range(n_labels):
            cell = {"width": 0.86, "height": 0.8, "linewidth": 0}
            ax.add_patch(_box(label, row, INK, 0.07, **cell))
            if shares[row, label] > 0.02:
                ax.add_patch(_box(label, row, colour, float(shares[row, label]) ** 0.7, **cell))
    ax.set_xlim(-0.5, n_labels - 0.5)
    ax.set_ylim(n_items - 0.5, -0.5)
    ax.set_xticks(range(n_labels), labels)
    ax.set_yticks([])
    ax.tick_params(length=0, labelsize=SIZE - 2, labelcolor=INK, pad=2)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_title(title, color=INK, size=SIZE, loc="left", pad=8, x=0.01)


def _box(label: int, row: int, colour: str, alpha: float, width: float, height: float, linewidth: float) -> object:
    from matplotlib.patches import FancyBboxPatch

    style = "round,pad=0,rounding_size=0.12"
    place = (label - width / 2, row - height / 2)
    return FancyBboxPatch(
        place, width, height, boxstyle=style, facecolor=colour, alpha=alpha, linewidth=linewidth, mutation_aspect=1
    )


def ridges(ax: Axes, comparison: pt.Comparison) -> None:
    """The posterior of how much worse each model is than the leading one, one hill a model."""
    ranks = comparison.ranks
    lead = str(ranks[0]["model"])
    draws = comparison.datatree["posterior"]["contrast"]
    best = draws.sel(model_name=lead).values.ravel()
    ax.axvspan(-ROPE, ROPE, color=INK, alpha=0.22, linewidth=0)
    ax.axvline(0, color=INK, linewidth=1)
    ax.text(-0.012, -0.72, "equivalent", color=INK, size=SIZE - 2, ha="right", va="center")
    for place, row in enumerate(ranks):
        name, floor = str(row["model"]), place + 0.32
        ax.plot([-0.02, 0.38], [floor, floor], color=INK, linewidth=0.6, alpha=0.5)
        if name == lead:
            ax.plot(0, floor, "o", color=BLUE, markersize=8)
            sure = f"best with probability {equals(float(str(row['p_best'])))}"
            ax.text(0.018, floor - 0.13, sure, color=BLUE, size=SIZE, va="center")
        else:
            worse = draws.sel(model_name=name).values.ravel() - best
            edges = np.linspace(worse.mean() - 4.2 * worse.std(), worse.mean() + 4.2 * worse.std(), 90)
            middle = (edges[1:] + edges[:-1]) / 2
            hill = np.exp(-0.5 * ((middle[:, None] - worse[None, ::3]) / (0.32 * worse.std())) ** 2).mean(1)
            hill *= 0.78 / hill.max()
            ax.fill_between(middle, floor, floor - hill, color=RED, alpha=0.75, linewidth=0)
            low, high = np.quantile(worse, [0.025, 0.975])
            ax.plot([low, high], [floor, floor], color=RED, linewidth=3, solid_capstyle="butt")
        ax.text(-0.03, floor - 0.13, name, color=INK, size=SIZE, ha="right", va="center", parse_math=False)
    ax.set_ylim(len(ranks) - 0.4, -0.9)
    ax.set_xlim(-0.02, 0.38)
    ax.set_yticks([])
    for side in ("top", "left", "right"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(INK)
    ax.set_xticks([0, 0.1, 0.2, 0.3], ["0", "+0.1", "+0.2", "+0.3"])
    ax.tick_params(labelsize=SIZE - 1, labelcolor=INK, color=INK)
    ax.grid(visible=True, axis="x", color=INK, alpha=0.18, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.set_xlabel("mean log loss above the best, in nats", color=INK, size=SIZE)


def items(shares: np.ndarray, probs: np.ndarray) -> np.ndarray:
    """Rows of the items that are shown: spread over how far annotators disagree, those of all labels."""
    entropy = -np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1)), 0).sum(1)
    order = np.lexsort((np.arange(len(entropy)), -np.abs(probs[0] - probs[1]).sum(1)))
    disputed = [row for row in order if entropy[row] > 0.5][: ITEMS - 3]
    settled = [row for row in order[::-1] if entropy[row] == 0][:3]
    chosen = np.array([*disputed, *settled])
    return chosen[np.argsort(shares[chosen].argmax(1), kind="stable")]


def main(path: Path) -> None:
    """Runs the demo and draws."""
    annotations, predictions = demo.load()
    result = pt.evaluate(annotations, predictions, rope=ROPE)
    assert result.truth is not None
    assert result.truth.shares is not None
    shares = result.truth.shares
    probs = np.exp(predictions.log_probs[[predictions.models.index(name) for name in SHOWN]])
    rows = items(shares, probs)
    with plain_style():
        figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72), facecolor="none")

        def axes(left: float, width: float, bottom: float, height: float) -> Axes:
            return figure.add_axes((left / WIDTH, bottom / HEIGHT, width / WIDTH, height / HEIGHT), facecolor="none")

        for place, (matrix, colour, title) in enumerate(
            (
                (shares, INK, "share of annotators"),
                *((part, BLUE, name) for part, name in zip(probs, SHOWN, strict=True)),
            )
        ):
            strip(axes(8 + 150 * place, 136, 44, 204), matrix[rows], colour, title, annotations.index.labels)
        for x, words in ((8, "what people said"), (158, "what two models say"), (494, "which is better, and how sure")):
            figure.text(x / WIDTH, 1 - 14 / HEIGHT, words, color=INK, size=SIZE + 2, weight="bold", va="center")
        ridge = axes(614, 250, 44, 214)
        ridges(ridge, result.comparison)
        made = inline(ridge, "verdict", TEXT)
    path.write_text(alone(made), encoding="utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images" / "verdict.svg")
