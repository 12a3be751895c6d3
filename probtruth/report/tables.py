"""The tables of a report, each a frame of shown strings made from a result; None where there is nothing to say."""

import math
from collections.abc import Sequence

from probtruth.check import as_float
from probtruth.kernels.host import versions
from probtruth.line.result import Result
from probtruth.report import about
from probtruth.report.numbers import (
    LONGEST_NAME,
    Row,
    best_pairs,
    decimals,
    exact,
    favouring_a,
    fixed,
    interval,
    marked,
    of_leaders,
    percent,
    places_of,
    plain,
    probability,
    setting,
    significant,
)
from probtruth.report.table import Table
from probtruth.report.words import mean_of, measure, with_unit
from probtruth.types.arguments import QUESTIONS
from probtruth.types.comparison import leaders, leading_pair

MOST_MODELS = 25
MOST_PAIRS = math.comb(MOST_MODELS, 2)  # Pairs that the page shows; the files have all
MOST_ANNOTATORS = 20  # The best and the worst half of them, and all that are flagged, up to so many again


def names_of(result: Result) -> dict[str, str]:
    return marked(result.scores.models, LONGEST_NAME)


def models(result: Result) -> Table:
    comparison, ranks = result.comparison, leaders(result.comparison.ranks)
    several = len(ranks) > 1
    places = places_of(ranks)
    infinite = dict(zip(result.scores.models, result.scores.n_infinite.tolist(), strict=True))
    accuracy = (None if result.labelled is None else result.analysis.accuracy) or {}
    score = "the metric" if comparison.settings.get("metric") else "the plain mean over items"
    note = f"The score is {score}; {'higher' if comparison.higher_is_better else 'lower'} is better."
    if ranks[0]["entropy"] is not None:
        note += (
            f" Score = entropy + divergence: the entropy of the labels, {fixed(ranks[0]['entropy'], places)}, is what "
            "the best possible forecast would score."
        )
    if accuracy:
        classes = result.truth is not None and result.truth.estimand == "class"
        right = "inferred classes" if classes else "labels"
        note += f" Accuracy is how often the most probable label is right, expected under the {right}."
    if several:
        note += (
            " Whether two models differ is read from their difference, not from the overlap of these intervals. "
            "Regret is how much worse than the best you must expect to be with this model."
        )
    return Table(
        "Models, most probably best first" if several else "The model",
        {
            "Model": [f"\x02{plain(row['model'])}\x03" for row in ranks],
            mean_of(comparison, with_units=True).capitalize(): [fixed(row["score"], places) for row in ranks],
            "95% interval": [interval(row["low"], row["high"], places) for row in ranks],
            "Accuracy": [fixed(accuracy.get(str(row["model"])), 3) for row in ranks],
            "Divergence": [fixed(row["divergence"], places) for row in ranks],
            "Infinite on": [fixed(infinite[str(row["model"])] or None, 0) for row in ranks],
            "P(best)": [probability(row["p_best"]) for row in ranks],
            "Expected rank": [fixed(row["expected_rank"], 2) for row in ranks],
            "Regret": [least(row["expected_regret"], places) for row in ranks],
        },
        note,
    )


def least(value: object, places: int) -> str:
    """A number of 0 or more with so many decimals; what is less than these show as below the least of them."""
    number, smallest = as_float(value), 10.0**-places
    return f"<{fixed(smallest, places)}" if number is not None and 0 < number < smallest / 2 else fixed(number, places)


def other_estimand(result: Result) -> Table | None:
    other, truth = result.other, result.truth
    if other is None or truth is None:
        return None
    ranks, names = leaders(result.comparison.ranks), names_of(result)
    of_model = {row["model"]: row for row in other.comparison.ranks}
    theirs = [of_model[row["model"]] for row in ranks]
    places = places_of(ranks)
    this, that = truth.estimand, other.truth.estimand
    return Table(
        "The same models under the other estimand",
        {
            "Model": [names[row["model"]] for row in ranks],
            f"Mean, {this}": [fixed(row["score"], places) for row in ranks],
            f"P(best), {this}": [probability(row["p_best"]) for row in ranks],
            f"Mean, {that}": [fixed(row["score"], places) for row in theirs],
            f"P(best), {that}": [probability(row["p_best"]) for row in theirs],
        },
        f"Means of {with_unit(result.comparison.rule)}. {this.capitalize()} (requested; {truth.method}): "
        f"{QUESTIONS[this]}. {that.capitalize()} ({other.truth.method}): {QUESTIONS[that]}. "
        + ("Compare the orders under the two, not the means." if len(ranks) > 1 else "Do not compare the two means."),
    )


def pairs(result: Result, rows: Sequence[Row] | None = None, caption: str = "Differences of all pairs") -> Table | None:
    """One row for each unordered pair, a minus b of the scores as they were given; None for one model."""
    comparison = result.comparison
    known = comparison.pairs if rows is None else rows
    if not known:
        return None
    shown, best = best_pairs(comparison, MOST_PAIRS, known)
    names, rope = names_of(result), comparison.rope
    note = (
        f"Difference = a minus b in {with_unit(comparison.rule)}; {favouring_a(comparison.higher_is_better)} favours a."
    )
    note += "" if rope is None else f" Equivalent: a difference of at most {exact(rope)}."
    if comparison.unseen.get("reason") and comparison.settings.get("population") == "new-items":
        note += " A rare difference, larger than any observed, cannot be excluded: the score has no known bound."
    if len(shown) < len(known):
        note += f" The pairs of the {best} best models, of {len(known):,}; pairwise.csv has all."
    columns = {"a": [names[row["a"]] for row in shown], "b": [names[row["b"]] for row in shown]}
    columns |= _differences(shown) | {"P(b better)": [probability(row["p_b_better"]) for row in shown]}
    return Table(caption, columns, note, left=("b",))


def _differences(rows: Sequence[Row], a: str = "a") -> dict[str, list[str]]:
    places = places_of(rows)
    return {
        "Difference": [fixed(row["difference"], places, sign=True) for row in rows],
        "95% interval": [interval(row["low"], row["high"], places) for row in rows],
        f"P({a} better)": [probability(row["p_a_better"]) for row in rows],
        "P(equivalent)": [probability(row.get("p_equivalent")) for row in rows],
    }


def by_group(result: Result) -> Table | None:
    rows = of_leaders(result.comparison)
    if not rows:
        return None
    groups = marked((row["group"] for row in rows), LONGEST_NAME)
    a, b = (names_of(result)[name] for name in leading_pair(result.comparison.ranks))
    columns = {
        "Group": [groups[str(row["group"])] for row in rows],
        "Items": [fixed(row["n_items"], 0) for row in rows],
    }
    return Table(
        "The two leading models in every group",
        columns | _differences(rows, a),
        f"Difference = {a} minus {b}; {favouring_a(result.comparison.higher_is_better)} favours the first. Groups are "
        "pooled partially: one with few items is drawn towards the others.",
    )


def calibration(result: Result) -> Table | None:
    analysis = result.analysis.calibration
    if analysis is None:
        return None

    names, rows, risk = marked(analysis.models, LONGEST_NAME), analysis.rows, analysis.risk
    accuracy = risk.powers.index(0.0)  # the power of the geometric mean
    split = "miscalibration" in rows[0]
    places = decimals([row["miscalibration"] for row in rows if split], at_most=4)
    note = ""
    if split:
        note += (
            f"Mean {with_unit(result.scores.rule)} = miscalibration − discrimination + a constant. Recalibration "
            "removes the miscalibration; discrimination is what the model knows. "
        )
    event = "the most probable label" if analysis.event is None else f"the label {plain(analysis.event)}"
    note += (
        f"Calibration error: mean distance of forecast and frequency in bins, for {event}, next to what chance alone "
        "gives a calibrated model. Typical probability: the geometric mean of what the model gave to what happened "
        "(Nelson's accuracy); recalibrated, each forecast is replaced by how often such forecasts come true (Nelson's "
        "source). Their ratio is 1 for a calibrated model."
    )
    note += f" The {len(analysis.models)} best models." if analysis.left_out else ""
    if analysis.n_items < analysis.n_all:
        note += f" From a random sample of {analysis.n_items:,} of the {analysis.n_all:,} items."
    place = [risk.models.index(row["model"]) for row in rows]
    return Table(
        "Parts of the score, and errors of the probabilities",
        {
            "Model": [names[row["model"]] for row in rows],
            "Miscalibration": [fixed(row.get("miscalibration"), places) for row in rows],
            "Discrimination": [fixed(row.get("discrimination"), places) for row in rows],
            "Calibration error": [fixed(row["error"], 3) for row in rows],
            "Error by chance alone": [fixed(row["if_calibrated"], 3) for row in rows],
            "Typical probability": [probability(p) for p in risk.model[place, accuracy]],
            "The same, recalibrated": [probability(p) for p in risk.source[place, accuracy]],
            "Ratio of the two": [probability(p) for p in risk.divergence[place, accuracy]],
        },
        note,
    )


def items(result: Result) -> Table | None:
    frame = result.analysis.listed
    if frame is None or not frame.height:
        return None
    models, names = [str(row["model"]) for row in leaders(result.comparison.ranks)[:2]], names_of(result)
    columns = {"Item": [f"\x02{plain(name)}\x03" for name in frame["item"]]}
    note = f"The last columns are the {with_unit(result.comparison.rule)} of the item."
    if result.labelled is not None and "label" in frame.columns:
        label = {name: f"\x02{plain(name)}\x03" for name in result.labelled.aligned.labels}
        named = result.analysis.named_shares(frame["index"].to_list())
        shares = {share: percent(share) for row in named for _, share in row}
        columns["Labels"] = [", ".join([f"{label[name]} ({shares[share]})" for name, share in row]) for row in named]
        columns["Entropy"] = [f"{abs(value):.3f}" for value in frame["entropy"]]
        for model in models:
            said = zip(frame[f"label_{model}"], frame[f"p_{model}"], frame["label"], strict=True)
            columns[f"{names[model]} says"] = [
                f"{label[says]} {probability(p)} {'✓' if says == true else '✗'}" for says, p, true in said
            ]
        note += f" ✓ where a model's most probable label is that of the item; its {measure(result.comparison.rule)} "
        note += "depends on all its probabilities."
    left = tuple([head for head in columns if head != "Entropy"])
    columns |= {names[model]: [significant(value, 3) for value in frame[f"score_{model}"]] for model in models}
    if len(models) > 1:
        caption = "Items on which the two leading models differ most"
    else:
        caption = "Items on which the labels disagree most" if left[1:] else "Items"
    if frame.height < (n := len(result.scores.items)):
        note += f" These are {frame.height} of {n:,} items; items.parquet has all."
    behind = [(result.item_text.get(name), result.item_images.get(name)) for name in frame["item"]]
    return Table(caption, columns, note, left, "items", behind)


def annotators(result: Result) -> Table | None:
    from probtruth.truth.annotators import NO_SKILL  # with JAX, which bare scores do without

    truth, rows = result.analysis.annotators.truth, result.analysis.annotators.rows
    if truth is None:
        return None

    shown, half = list(rows), MOST_ANNOTATORS // 2
    if len(rows) > MOST_ANNOTATORS:
        flagged = [row for row in rows[half:-half] if row["flag"]][:MOST_ANNOTATORS]
        shown = [*rows[:half], *flagged, *rows[-half:]]
    names = marked((row["annotator"] for row in shown), LONGEST_NAME)
    flags = any(row["flag"] for row in rows)
    note = f"By the method {truth.method}, which takes each item to have one true class. "
    if len(shown) < len(rows):
        note += f"{len(shown)} of {len(rows):,} annotators: the best, the worst and those with a flag. "
    note += (
        "Accuracy is the chance that an annotation names the item's class; skill is the same beyond chance (1 always "
        "right, 0 by chance, below 0 worse); information is what one annotation says of the class. "
    )
    note += (
        f"Spammer: the 95% interval of skill lies below {NO_SKILL}. Adversary: it lies below 0."
        if flags
        else f"No annotator is flagged: no 95% interval of skill lies below {NO_SKILL}."
    )
    return Table(
        "Annotators, best first",
        {
            "Annotator": [names[str(row["annotator"])] for row in shown],
            "Annotations": [fixed(row["n_annotations"], 0) for row in shown],
            "Accuracy": [fixed(row["accuracy"], 2) for row in shown],
            "Skill (kappa)": [fixed(row["skill"], 2) for row in shown],
            "95% interval": [interval(row["skill_low"], row["skill_high"], 2) for row in shown],
            "Information (nats)": [fixed(row["information"], 2) for row in shown],
            "Flag": [str(row["flag"]) for row in shown],
        },
        note,
        left=("Flag",),
    )


def diagnostics(result: Result) -> Table | None:
    known = result.comparison.diagnostics
    rows = list(about.diagnostics(known))
    if not rows:
        return None
    columns = {
        "Diagnostic": [name for name, *_ in rows],
        "Value": [value for _, value, *_ in rows],
        "Passes if": [bound for _, _, bound, _ in rows],
    }
    sampler = f"Sampler: {known['sampler']}." if known.get("sampler") else ""
    return Table("Diagnostics of the sampling", columns, sampler, kind="list")


TESTS = {
    "t_p": "p (t)",
    "t_p_holm": "Holm p (t)",
    "sign_flip_p": "p (sign flips)",
    "sign_flip_p_holm": "Holm p (sign flips)",
    "wilcoxon_p": "p (Wilcoxon)",
    "wilcoxon_p_holm": "Holm p (Wilcoxon)",
    "bootstrap_p_a_better": "P(a better), bootstrap",
}  # The numbers of the model-free tests, in the order of their columns


def tests(result: Result) -> Table | None:
    rows, names = result.comparison.model_free, names_of(result)
    if not rows:
        return None
    note = (
        "Two-sided p-values of no difference; Holm adjusts over all pairs. The paired t and the sign flips test the "
        "mean difference, the signed-rank test (Wilcoxon) its pseudo-median. The Bayesian bootstrap is a posterior "
        "without a model of the differences."
    )
    if all(row.get("sign_flip_p") is None for row in rows):
        note += " The others need independent items, at most 200,000 of them."
    if len(result.comparison.pairs) > len(rows):
        note += f" Of the pairs, those of the {MOST_MODELS} models of the best mean."
    columns = {
        "a": [names[row["a"]] for row in rows],
        "b": [names[row["b"]] for row in rows],
        "t": [fixed(row["t"], 2, sign=True) for row in rows],
    }
    columns |= {head: [probability(row.get(key)) for row in rows] for key, head in TESTS.items()}
    return Table("Model-free tests", columns, note, left=("b",))


def settings(result: Result) -> Table:
    comparison = result.comparison
    chosen: dict[str, object] = {"rule": comparison.rule, "seed": comparison.seed, "rope": comparison.rope}
    chosen |= comparison.settings
    chosen |= {f"version of {name}": version for name, version in versions().items()}
    columns = {"Setting": [name.replace("_", " ") for name in chosen], "Value": list(map(setting, chosen.values()))}
    return Table("Settings", columns, left=("Value",), kind="list")
