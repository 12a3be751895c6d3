"""Agreement: published examples, hand algebra, errors."""

import itertools

import numpy as np
import pytest

import probtruth as pt

THREE_DIGITS = 5e-4  # The published values have three digits

ROUNDING = 1e-12


def table(rows: list[str]) -> pt.Annotations:
    """Reliability data: one string an observer, one character a unit, a dot where it is missing."""
    cells = [(unit, who, label) for who, row in enumerate(rows) for unit, label in enumerate(row) if label != "."]
    item, annotator, label = zip(*cells, strict=True)
    return pt.Annotations.from_long({"item": item, "annotator": annotator, "label": label})


EXAMPLE_C = table(["12332141 2...".replace(" ", ""), "1233224125.3", ".3332342251.", "123324412 51.".replace(" ", "")])
"""Krippendorff (2011), Computing Krippendorff's alpha-reliability, example C: four observers, twelve units."""


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorff_example_c(level: str, published: float) -> None:
    found = pt.agreement.krippendorff_alpha(EXAMPLE_C, level=level)
    assert found.value == pytest.approx(published, abs=THREE_DIGITS)
    assert found.low < found.value < found.high
    assert (found.n_items, found.n_annotations) == (11, 40)


def test_alpha_against_all_pairs(simulated) -> None:
    """The definition, written as a double loop over the annotations of every item."""
    annotations, _, _ = simulated
    by_item = [annotations.label[annotations.item == item] for item in range(annotations.n_items)]
    pooled = np.concatenate(by_item)
    observed = np.mean([np.mean([a != b for a, b in itertools.permutations(labels, 2)]) for labels in by_item])
    expected = np.mean([a != b for a, b in itertools.permutations(pooled, 2)])
    assert pt.agreement.krippendorff_alpha(annotations).value == pytest.approx(1 - observed / expected, rel=ROUNDING)


def test_an_interval_ends_where_alpha_does() -> None:
    """No answers have less than -1 (of pairs that never agree); the interval began at -6.0."""
    found = pt.agreement.krippendorff_alpha(pt.Annotations.from_counts([[2, 0], [0, 2], [1, 1]]))
    assert -1 <= found.low < found.value < found.high


@pytest.mark.parametrize(("n_items", "low"), [(2, -0.27), (20, 0.67), (200, 0.96)])
def test_no_disagreement_yet_is_no_certainty(n_items: int, low: float) -> None:
    """Two items on which two agree had an interval from 1 to 1. At most 1 - 0.025 ** (1 / n) of items may be unlike."""
    found = pt.agreement.krippendorff_alpha(pt.Annotations.from_counts([[2, 0], [0, 2]] * (n_items // 2)))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(low, abs=0.01)


def test_a_rare_label_on_which_none_agreed_yet_leaves_alpha_open() -> None:
    """39 items without it and one on which two differ: alpha was 0.00 (-0.03 to 0.03)."""
    common = [[2, 0]] * 39
    alpha = pt.agreement.krippendorff_alpha(pt.Annotations.from_counts([*common, [1, 1]]))
    assert alpha.value == pytest.approx(0, abs=1e-12)
    assert alpha.low < -0.5
    assert alpha.high > 0.7
    unused = pt.Annotations.from_counts([[*counts, 0] for counts in [*common, [1, 1]]])
    assert pt.agreement.krippendorff_alpha(unused).high == pytest.approx(alpha.high, abs=1e-12)


def test_interval_covers_where_a_label_is_rare() -> None:
    """Two answers of twenty annotators to each of forty items, of which one in fifteen is unlike: 0.6 were held."""
    rng = np.random.default_rng(0)
    rare = rng.random(100_000) < 1 / 15
    chance = np.where(rare, 0.6, 0.01)
    share = chance.mean()
    true = 1 - (chance * (1 - chance)).mean() / (share * (1 - share))
    held = []
    for _ in range(200):
        yes = rng.binomial(2, rng.choice(chance, 40))
        alpha = pt.agreement.krippendorff_alpha(pt.Annotations.from_counts(np.stack([2 - yes, yes], axis=1)))
        held += [alpha.low <= true <= alpha.high] if np.isfinite(alpha.low) else []
    assert np.mean(held) > 0.92


@pytest.mark.long
def test_interval_covers() -> None:
    """Alpha of a population of items with 3 votes: 95 per cent intervals from 40 items cover about 95 per cent."""
    generator = np.random.default_rng(5)
    population = np.stack([generator.multinomial(3, row) for row in generator.dirichlet([0.5, 0.5], 20_000)])
    target = pt.agreement.krippendorff_alpha(pt.Annotations.from_counts(population)).value
    covered = []
    for _ in range(150):
        sample = pt.Annotations.from_counts(population[generator.choice(20_000, 40)])
        found = pt.agreement.krippendorff_alpha(sample)
        covered.append(found.low <= target <= found.high)
    assert np.mean(covered) > 0.85  # percentile bootstrap at 40 items, minus five standard errors


def test_order_of_text_labels() -> None:
    words = ["low", "mid", "high", "high", "mid", "mid"]
    rows = {"item": [0, 0, 1, 1, 2, 2], "annotator": list("pqpqpq"), "label": words}
    annotations = pt.Annotations.from_long(rows)
    found = pt.agreement.krippendorff_alpha(annotations, level="ordinal", order=["low", "mid", "high"])
    numbers = pt.Annotations.from_long({**rows, "label": [1, 2, 3, 3, 2, 2]})
    assert found.value == pytest.approx(pt.agreement.krippendorff_alpha(numbers, level="ordinal").value, rel=ROUNDING)


def test_one_label_in_use_is_unknown() -> None:
    found = pt.agreement.krippendorff_alpha(pt.Annotations.from_counts([[3, 0], [2, 0]]))
    assert np.isnan([found.value, found.low, found.high]).all()


def test_millions_of_millions_of_votes() -> None:
    """Half of the pairs agree, as by chance, at any number of votes: products of the counts are above 2^63."""
    counts = pt.Annotations.from_counts([[2**40, 2**40], [2**40, 2**40]])
    assert pt.agreement.krippendorff_alpha(counts).value == pytest.approx(0, abs=1e-9)


def labelled(*labels: str) -> pt.Annotations:
    """Each label beside the next one, on an item of its own."""
    pairs = list(zip(labels, labels[1:] + labels[:1], strict=True))
    cells = [(item, who, label) for item, pair in enumerate(pairs) for who, label in zip("pq", pair, strict=True)]
    item, annotator, label = zip(*cells, strict=True)
    return pt.Annotations.from_long({"item": item, "annotator": annotator, "label": label})


TEXT = pt.Annotations.from_long({"item": [0, 0], "annotator": ["p", "q"], "label": ["yes", "no"]})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pt.agreement.krippendorff_alpha(EXAMPLE_C, level="cardinal"), "level 'cardinal'"),
        (lambda: pt.agreement.krippendorff_alpha(TEXT, level="ordinal"), "give order=[lowest"),
        (lambda: pt.agreement.krippendorff_alpha(TEXT, level="ordinal", order=["yes"]), "order lacks the label 'no'"),
        (lambda: pt.agreement.krippendorff_alpha(labelled("-1", "1", "2"), level="ratio"), "labels below 0"),
        (
            lambda: pt.agreement.krippendorff_alpha(labelled("nan", "1", "2"), level="ordinal"),
            "labels that are numbers",
        ),
        (lambda: pt.agreement.krippendorff_alpha(labelled("1e0", "1", "2"), level="ordinal"), "each another one"),
        (lambda: pt.agreement.krippendorff_alpha(labelled("a", "b"), level="ordinal", order="ab"), "order as a str"),
        (lambda: pt.agreement.krippendorff_alpha([["yes", "no"]]), "got list, expected Annotations"),
        (lambda: pt.agreement.human_ceiling([["yes", "no"]]), "got list, expected Annotations"),
        (lambda: pt.agreement.human_ceiling(labelled("a", "b"), TEXT), "got Annotations, expected Predictions"),
        (lambda: pt.agreement.alternative_annotator_test([["yes"]], TEXT), "got list, expected Annotations"),
        (lambda: pt.agreement.krippendorff_alpha(pt.Annotations.from_counts([[1, 0]])), "no item with two annotations"),
    ],
)
def test_errors(call, words: str) -> None:
    with pytest.raises(pt.InputError) as caught:
        call()
    assert words.lower() in str(caught.value).lower()
