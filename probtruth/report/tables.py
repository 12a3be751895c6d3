"""Tables of shown strings with their alignment, and those of a comparison; None where there is nothing to say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from probtruth.io.formats import Texts
from probtruth.kernels.host import versions
from probtruth.line.result import Result
from probtruth.line.standing import gates
from probtruth.report.about import better, gate_words, mean_of, rope_of, with_unit
from probtruth.report.names import mark
from probtruth.report.numbers import (
    UNKNOWN,
    at_least_shown,
    exact,
    favouring_a,
    fixed,
    interval,
    places_of,
    probability,
    setting,
    significant,
)
from probtruth.types.arguments import QUESTIONS, method_in_words
from probtruth.types.comparison import Comparison
from probtruth.types.frontier import SURE, Frontier
from probtruth.types.pairs import Pair

NOTHING = {"", UNKNOWN}


MOST_TESTED = 25  # Models whose pairs the model-free tests compare, those of the best means
ALL_PAIRS = 15  # Pairs up to which a table has all; of more it has those of the leading model
TESTS = {
    "t_p": "p (t)",
    "t_p_holm": "Holm p (t)",
    "sign_flip_p": "p (sign flips)",
    "sign_flip_p_holm": "Holm p (sign flips)",
    "wilcoxon_p": "p (Wilcoxon)",
    "wilcoxon_p_holm": "Holm p (Wilcoxon)",
}  # The numbers of the model-free tests, in the order of their columns


@dataclass(frozen=True)
class Table:
    """Columns of shown strings by their heads, those in which nothing is known left out, under a caption, over a note.

    `left` are the heads set flush left, besides the first. `kind` is "items" for a list of which only the first rows
    stand open, "list" for facts without an order. `behind` are a text and an image (a data URI) behind the name of each
    row, where they are known.
    """

    caption: str
    columns: Mapping[str, Sequence[str]]
    note: str = ""
    left: Texts = ()
    kind: str = ""
    behind: Sequence[tuple[str | None, str | None]] = ()

    @cached_property
    def heads(self) -> Texts:
        return tuple(head for head, cells in self.columns.items() if set(cells) - NOTHING)

    @cached_property
    def rows(self) -> list[Texts]:
        shown = [self.columns[head] for head in self.heads]
        return list(zip(*shown, strict=True))

    @cached_property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column is set flush right: all but the first and those named."""
        flush_left = {self.heads[0], *self.left} if self.heads else set()
        return tuple(head not in flush_left for head in self.heads)


def of_rows(caption: str, rows: Sequence[Mapping[str, str]], note: str = "", left: Texts = ()) -> Table:
    """A table of rows that hold their cells by the heads of the columns."""
    heads = rows[0] if rows else {}
    columns = {head: [row[head] for row in rows] for head in heads}
    return Table(caption, columns, note, left)


def models(result: Result) -> Table:
    comparison = result.comparison
    ranks = comparison.ranked
    places = places_of(ranks)
    infinite = dict(zip(result.scores.models, result.scores.n_infinite.tolist(), strict=True))
    accuracy = {} if result.labelled is None else result.analysis.accuracy or {}
    mean = mean_of(comparison, with_units=True).capitalize()
    rows = []
    for rank in ranks:
        score = fixed(rank.score, places)
        cells = {
            "Model": mark(rank.model),
            mean: score,
            "95% interval": interval(rank.low, rank.high, places),
            "Letters": result.letters.get(rank.model, ""),
            "Accuracy": fixed(accuracy.get(rank.model), 3),
            "Divergence": fixed(rank.divergence, places),
            "Infinite on": fixed(infinite[rank.model] or None, 0),
            "P(best)": probability(rank.p_best),
            "Expected rank": fixed(rank.expected_rank, 2),
            "Regret": at_least_shown(rank.expected_regret, places),
        }
        rows.append(cells | {mean: score})  # the metric may be called Accuracy too
    caption = "Models, most probably best first" if len(ranks) > 1 else "The model"
    return of_rows(caption, rows, _note_on_models(result, places), left=("Letters",))


def _note_on_models(result: Result, places: int) -> str:
    comparison = result.comparison
    entropy = comparison.ranked[0].entropy
    score = "the metric" if comparison.settings.get("metric") else "the plain mean over items"
    if np.isnan(result.scores.values).any():
        score = "the mean over all items, also those that a model lacks, by what the other models say of them"
    note = f"The score is {score}; {better(comparison)} is better."
    if entropy is not None:
        note += (
            f" Score = entropy + divergence: the entropy of the labels, {fixed(entropy, places)}, is what the best "
            "possible forecast would score."
        )
    if result.labelled is not None and result.analysis.accuracy:
        classes = result.truth is not None and result.truth.estimand == "class"
        right = "inferred classes" if classes else "labels"
        note += f" Accuracy is how often the most probable label is right, expected under the {right}."
    if result.letters:
        note += " Models that share a letter are not told apart: the 95% interval of their difference holds 0."
    if len(comparison.ranks) > 1:
        note += (
            " Whether two models differ is read from their difference, not from the overlap of these intervals. "
            "Regret is how much worse than the best you must expect to be with this model."
        )
    if len(comparison.ranks) > 2:
        note += " P(best), rank and regret pool the models as far as they resemble each other; pairs do not."
    return note


def other_estimand(result: Result) -> Table | None:
    other, truth = result.other, result.truth
    if other is None or truth is None:
        return None
    this, that = truth.estimand, other.truth.estimand
    rows = _twice(result, this, other.comparison, that)
    note = (
        "Do you report opinions (distribution), or right answers (class)? "
        f"{this.capitalize()}, as requested: {QUESTIONS[this]}, by {method_in_words(truth.method)}. "
        f"{that.capitalize()}: {QUESTIONS[that]}, by {method_in_words(other.truth.method)}. "
        f"Means of {with_unit(result.comparison.rule)}. Compare the orders under the two, not the means."
    )
    return of_rows("The same models under the other estimand", rows, note)


def frontier(result: Result) -> Table | None:
    """The models by cost, and how probable it is that no other one beats them."""
    found = result.frontier
    if found is None:
        return None
    places = places_of(result.comparison.ranked)
    mean = mean_of(result.comparison, with_units=True).capitalize()
    rows = [
        {
            "Model": mark(offer.model),
            "Cost": significant(offer.cost, 3),
            "95% interval of the cost": interval(offer.cost_low, offer.cost_high, 3, significant),
            mean: fixed(offer.score, places),
            "P(on the frontier)": probability(offer.p_frontier),
            "P(within the ROPE)": probability(offer.p_good_enough),
        }
        for offer in found.offers
    ]
    note = (
        "On the frontier no other model is both at least as good and cheaper, or better and no dearer. "
        "Within the ROPE: the mean is at most that far from the best one."
    )
    return of_rows("What quality costs, the cheapest model first", rows, note)


def frontier_sentence(found: Frontier, result: Result) -> str:
    """The cheapest model that is good enough."""
    if found.rope is None:
        return "Say which difference does not matter (--rope), and the cheapest model that is good enough is named."
    votes = "votes" in result.comparison.settings
    within = f"with a mean within {exact(found.rope)} of the best"
    if votes:
        within = f"to which the best is preferred with probability at most {exact(0.5 + found.rope)}"
    within += f" (P at least {SURE:g})"
    if found.cheapest is None:
        return f"No model is one {within}: more {'votes' if votes else 'items'} may tell."
    return f"The cheapest model {within} is {mark(found.cheapest)}."


def labels(result: Result) -> Table | None:
    """What each of several labels says of the pairs, a the better placed in the mean, and the mean in the last rows."""
    if not result.by_label:
        return None
    compared = {mark(label): of_label.comparison for label, of_label in result.by_label.items()}
    compared["mean of all"] = result.comparison
    rows = []
    for label, comparison in compared.items():
        shown = result.comparison.order_pairs(comparison.pairs)
        if len(shown) > ALL_PAIRS:
            shown = [pair for pair in shown if pair.a == shown[0].a]
        places = places_of(shown)
        for pair in shown:
            cells = {"Label": label, "a": mark(pair.a), "b": mark(pair.b)}
            rows.append(cells | _difference(pair, places))
    return of_rows("Differences on each label, and on their mean", rows, left=("a", "b"))


def proper_rule(result: Result) -> Table | None:
    """The models by the proper rule of the kind of an improper official score."""
    comparison = result.comparison
    proper = comparison.proper
    if proper is None or len(comparison.ranks) < 2:
        return None
    rows = _twice(result, comparison.rule, proper, proper.rule)
    note = f"{comparison.rule.capitalize()} rewards forecasts that are not true; {proper.rule} does not."
    return of_rows(f"The same models by {proper.rule}, the proper rule of its kind", rows, note)


def _twice(result: Result, this: str, other: Comparison, that: str) -> list[dict[str, str]]:
    """The models of a result with what another comparison says of each."""
    ranks = result.comparison.ranked
    places = places_of(ranks)
    rows = {rank.model: {"Model": mark(rank.model)} for rank in ranks}
    for estimand, compared in ((this, ranks), (that, other.ranks)):
        for rank in compared:
            rows[rank.model] |= {
                f"Mean, {estimand}": fixed(rank.score, places),
                f"P(best), {estimand}": probability(rank.p_best),
            }
    return list(rows.values())


def pairs(result: Result, rows: Sequence[Pair] | None = None, caption: str = "Differences") -> Table | None:
    """The pairs, or where they are many those of the leading model: a minus b, a the better placed. None for one model.

    `rows` are those of another population than that of the headline.
    """
    comparison = result.comparison
    known = comparison.ordered_pairs if rows is None else comparison.order_pairs(rows)
    if not known:
        return None
    shown, of_which, more = known, "of all pairs", ""
    if len(known) > ALL_PAIRS:
        lead = known[0].a
        shown = [pair for pair in known if pair.a == lead]
        of_which = "of the leading model from the others"
        more = f" These are the pairs of {mark(lead)}, of {len(known):,} in all; pairwise.csv has all."
    places = places_of(shown)
    cells = []
    for pair in shown:
        first = {} if pair.group is None else {"Group": mark(pair.group)}
        first |= {"a": mark(pair.a), "b": mark(pair.b)}
        cells.append(first | _difference(pair, places) | {"P(b better)": probability(pair.p_b_better)})
    note = (
        f"Difference = a minus b in {with_unit(comparison.rule)}; {favouring_a(comparison.higher_is_better)} favours a."
    )
    if comparison.rope is not None:
        note += f" Equivalent: a difference of at most {rope_of(comparison)}; not worse: by no more than that."
    if result.first_standing is not None and result.first_standing.open_ended:
        note += " A rare difference, larger than any observed, cannot be excluded: the score has no known bound."
    return of_rows(f"{caption} {of_which}" if rows is None else caption, cells, note + more, left=("a", "b"))


def _difference(pair: Pair, places: int, a: str = "a") -> dict[str, str]:
    return {
        "Difference": fixed(pair.difference, places, sign=True),
        "95% interval": interval(pair.low, pair.high, places),
        f"P({a} better)": probability(pair.p_a_better),
        "P(equivalent)": probability(pair.p_equivalent),
        f"P({a} not worse)": probability(pair.p_a_not_worse),
    }


def by_group(result: Result, people: bool = False) -> Table | None:
    comparison = result.comparison
    shown = comparison.leading_pair_by_people if people else comparison.leading_pair_by_group
    if not shown:
        return None
    a, b = map(mark, shown[0].models)
    places = places_of(shown)
    sizes: Any = comparison.decisions.get("group_annotators", {})
    rows = []
    for pair in shown:
        group = str(pair.group)
        cells = {"Group": mark(group), "Items": fixed(pair.n_items, 0), "Annotators": fixed(sizes.get(group), 0)}
        rows.append(cells | _difference(pair, places, a))
    note = f"Difference = {a} minus {b}; {favouring_a(comparison.higher_is_better)} favours the first."
    if people:
        note += " Each row is the answer of that group's annotators by themselves, over new items and new annotators."
        return of_rows("The two leading models by every group of annotators", rows, note)
    note += " Groups are pooled partially: one with few items is drawn towards the others."
    return of_rows("The two leading models in every group", rows, note)


def diagnostics(result: Result) -> Table | None:
    known = result.comparison.diagnostics
    rows = [gate_words(gate) for gate in gates(known)]
    if not rows:
        return None
    columns = dict(zip(("Diagnostic", "Value", "Passes if"), zip(*rows, strict=True), strict=True))
    sampler = f"Sampler: {known['sampler']}." if known.get("sampler") else ""
    if known.get("engine") == "exact":
        sampler += " It made what is said of groups; all else is in closed form or by quadrature."
    return Table("Diagnostics of the sampling", columns, sampler, kind="list")


def tests(result: Result) -> Table | None:
    tested = result.comparison.model_free
    if not tested:
        return None
    note = (
        "Two-sided p-values of no difference; Holm adjusts over all pairs. The paired t and the sign flips test the "
        "mean difference, the signed-rank test (Wilcoxon) its pseudo-median."
    )
    if all(row.get("sign_flip_p") is None for row in tested):
        note += " The others need independent items, at most 200,000 of them."
    if len(result.comparison.pairs) > len(tested):
        note += f" Of the pairs, those of the {MOST_TESTED} models of the best mean."
    # the better placed model as a: t changes its sign with the sides
    place = {rank.model: at for at, rank in enumerate(result.comparison.ranked)}
    rows = {}
    for row in tested:
        a, b = sorted((row["a"], row["b"]), key=place.__getitem__)
        t = row["t"]
        if a != row["a"] and t is not None:
            t = -t
        cells = {"a": mark(a), "b": mark(b), "t": fixed(t, 2, sign=True)}
        cells |= {head: probability(row.get(key)) for key, head in TESTS.items()}
        rows[place[a], place[b]] = cells
    ordered = [cells for _, cells in sorted(rows.items())]
    return of_rows("Model-free tests", ordered, note, left=("b",))


def settings(result: Result) -> Table:
    comparison = result.comparison
    chosen: dict[str, object] = {"rule": comparison.rule, "seed": comparison.seed, "rope": comparison.rope}
    chosen |= comparison.settings
    for name, version in versions().items():
        chosen[f"version of {name}"] = version
    columns = {
        "Setting": [name.replace("_", " ") for name in chosen],
        "Value": [setting(value) for value in chosen.values()],
    }
    return Table("Settings", columns, left=("Value",), kind="list")
