"""Every expected text follows from the stated format."""

import pytest
from rich.cells import cell_len

from probtruth.report import names, numbers
from probtruth.report.names import short_names

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.97, "0.97"),
        (0.5, "0.50"),
        (0.005, "0.005"),
        (0.0101, "0.01"),
        (0.995, "0.995"),
        (0.9994, ">0.999"),
        (1.0, ">0.999"),
        (0.0, "<0.001"),
        (0.0009, "<0.001"),
        (None, "–"),
        (NAN, "–"),
        (1, ">0.999"),
    ],
)
def test_probability(value, text):
    assert numbers.probability(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.97, "= 0.97"), (1.0, "> 0.999"), (0.0, "< 0.001"), (None, "= –")])
def test_probability_with_its_sign(value, text):
    assert numbers.equals(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.021755, "1.022"),
        (0.553141, "0.5531"),
        (-0.0196, "−0.0196"),
        (12345.6, "12,346"),
        (1e-7, "1e−07"),
        (-2.5e12, "−2.5e+12"),
        (0, "0"),
        (INF, "∞"),
        (-INF, "−∞"),
        ("inf", "∞"),
        (None, "–"),
        ("text", "–"),
        (99999.5, "100,000"),
        (5.43e-300, "5.43e−300"),
    ],
)
def test_significant(value, text):
    assert numbers.significant(value) == text


@pytest.mark.parametrize(
    ("value", "places", "text"), [(-0.0004, 2, "0.00"), (0.25, 2, "+0.25"), (-1.5, 1, "−1.5"), (INF, 2, "+∞")]
)
def test_fixed_with_sign(value, places, text):
    assert numbers.fixed(value, places, sign=True) == text


@pytest.mark.parametrize(
    ("widths", "places"),
    [([0.0123], 4), ([0.11], 3), ([1.5, 0.2], 2), ([30.0], 0), ([], 4), ([0.0, INF, None], 4), ([1e-12], 8)],
)
def test_decimals_show_two_digits_of_the_narrowest_half_width(widths, places):
    """By hand: half of 0.0123 is 0.0062, of which two digits are four decimals; half of 30 is 15."""
    assert numbers.decimals(widths) == places


@pytest.mark.parametrize(
    ("ends", "places"),
    [((0.00378, 0.11339), 3), ((0.0, 0.11), 3), ((-0.01, 0.1), 3), ((None, float("inf")), 3), ((-0.0004, 0.1), 4)],
)
def test_an_end_that_is_not_zero_is_not_shown_as_zero(ends, places):
    assert numbers.decimals([0.11], ends=ends) == places


def test_a_column_of_tiny_numbers_is_not_shown_as_zeros():
    """Scores of 1e-9 were 0.00000000 in the table."""
    assert numbers.decimals([2e-10], ends=(6.3e-10, 8.3e-10)) == 11
    assert numbers.decimals([2e-10], ends=(0.4, 0.5)) == 8
    assert numbers.decimals([2e-300], ends=(6.3e-300, 8.3e-300)) == 20


@pytest.mark.parametrize(
    ("value", "text"), [(0.62, "62%"), (0.001, "<1%"), (0.999, ">99%"), (0, "0%"), (1, "100%"), (None, "–")]
)
def test_percent(value, text):
    assert numbers.percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.01, "0.01"), (2500, "2,500"), (-1e-3, "−0.001"), (0.0100761545747, "0.01008"), (INF, "∞"), (None, "–")],
)
def test_exact_has_no_trailing_zeros(value, text):
    assert numbers.exact(value) == text


def test_interval():
    assert numbers.interval(-0.02, INF, 2) == "−0.02 to ∞"
    assert numbers.interval(None, NAN, 2) == "–"
    assert numbers.interval(-INF, -INF, 2) == "−∞"


def test_plain_names_control_nothing():
    assert names.plain("a\nb\tc\x1b[31m\u202egnp\u2066x\u2028") == "a�b�c�[31m�gnp�x�"
    assert names.plain("שלום 😀 👩‍🔬") == "שלום 😀 👩‍🔬"


def test_short_names_fit_and_stay_apart():
    names = ["x" * 300, "x" * 299 + "x", "x" * 150 + "y" + "x" * 149, "漢字" * 40, "short", "short"]
    shown = short_names(names, 20)
    assert len(set(shown.values())) == len(set(names))
    assert all(cell_len(text) <= 20 for text in shown.values())
    assert shown["short"] == "short"
    assert shown["漢字" * 40].startswith("漢字漢字")
    for full, expected in (
        (("openai/gpt-5-nano-2025", "openai/gpt-5.4-mini"), ("openai/gp…ano-2025", "openai/gp…5.4-mini")),
        (("bert-large-uncased-seed-1", "bert-large-uncased-seed-2"), ("bert-larg…d-seed-1", "bert-larg…d-seed-2")),
        (("x" * 40 + "a" + "x" * 20, "x" * 40 + "b" + "x" * 20), ("xxxxxxxxx…xxxxxxxx", "xxxxxxx…xxxxxx (2)")),
    ):
        assert tuple(short_names(full, 18).values()) == expected


def test_marks_of_names_cannot_be_forged():
    """A name with the control characters of the marks is shown without them, and splits in one piece."""
    assert names.MARKED.split(names.mark("a\x02b\x03c") + names.mark("d")) == ["", "a�b�c", "", "d", ""]
    assert names.unmarked(f"{names.mark('d')} leads") == "d leads"
    assert [names.joined([*"abc"][:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
