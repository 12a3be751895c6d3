"""The figure of what quality costs: each model's mean score against its cost."""

from matplotlib.axes import Axes

from probtruth import check
from probtruth.report.names import short_names
from probtruth.report.plots.axes import BLUE, INK, panel, text
from probtruth.report.plots.comparison import comparison_in
from probtruth.report.words import mean_of
from probtruth.types import Comparison
from probtruth.types.frontier import Frontier

WIDE = 20  # Times the cheapest cost from which on the axis is logarithmic
LIKELY = 0.5  # P(on the frontier) from which on a model is filled


def plot_frontier(comparison: Comparison, frontier: Frontier, ax: Axes | None = None) -> Axes:
    """Mean score against cost with 95 per cent intervals; models that are probably on the frontier are filled.

    Arguments:
        comparison: what `compare` returned.
        frontier: what its `frontier` returned.
        ax: the axes to draw on.

    Returns: the axes; a line joins the models that are probably on the frontier. Costs that differ 20-fold stand on a
    logarithmic scale.

    Errors: `InputError` for anything but a comparison and its frontier.

    >>> import probtruth as pt
    >>> frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    >>> comparison = pt.compare(pt.Scores.from_frame(frame, higher_is_better=False), engine="exact")
    >>> pt.figures.plot_frontier(comparison, comparison.frontier({"a": 2, "b": 1})).get_xlabel()
    'cost'
    """
    known = comparison_in(comparison)
    offers = check.instance(frontier, Frontier, "comparison.frontier").offers
    rank_of = {rank.model: rank for rank in known.ranks}
    names = short_names(offer.model for offer in offers)
    ax = panel(ax, "cost", mean_of(known, with_units=True), left=72, right=90)
    least = min(offer.cost for offer in offers)
    if 0 < WIDE * least < max(offer.cost for offer in offers):
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    likely = [offer for offer in offers if offer.p_frontier >= LIKELY]
    costs = [offer.cost for offer in likely]
    ax.plot(costs, [offer.score for offer in likely], color=BLUE, linewidth=1, drawstyle="steps-post")
    for offer in offers:
        filled = offer in likely
        rank = rank_of[offer.model]
        colour = BLUE if filled else INK
        if rank.low is not None and rank.high is not None:
            ax.plot(
                [offer.cost] * 2,
                [rank.low, rank.high],
                color=colour,
                linewidth=1.5,
            )
        if offer.cost_low is not None and offer.cost_high is not None:
            ax.plot(
                [offer.cost_low, offer.cost_high],
                [offer.score] * 2,
                color=colour,
                linewidth=1.5,
            )
        ax.plot(offer.cost, offer.score, "o", color=colour, markerfacecolor=colour if filled else "white")
        text(
            ax,
            offer.cost,
            offer.score,
            names[offer.model],
            colour,
            shift=(8, 9),
        )
    ax.margins(x=0.08, y=0.1)
    return ax
