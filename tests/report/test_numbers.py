"""Every expected text follows from the stated format."""

import pytest
from rich.cells import cell_len

from probtruth.report import names, numbers
from probtruth.report.names import short_names

INF, NAN = float("inf"), float("nan")


FORMATS = {
    numbers.probability: [
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
    numbers.equals: [(0.97, "= 0.97"), (1.0, "> 0.999"), (0.0, "< 0.001"), (None, "= –")],
    numbers.significant: [
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
    numbers.percent: [(0.62, "62%"), (0.001, "<1%"), (0.999, ">99%"), (0, "0%"), (1, "100%"), (None, "–")],
    numbers.exact: [  # without trailing zeros
        (0.01, "0.01"),
        (2500, "2,500"),
        (-1e-3, "−0.001"),
        (0.0100761545747, "0.01008"),
        (INF, "∞"),
        (None, "–"),
    ],
}


@pytest.mark.parametrize("shown", FORMATS, ids=lambda shown: shown.__name__)
def test_numbers_as_they_are_shown(shown):
    assert [shown(value) for value, _ in FORMATS[shown]] == [text for _, text in FORMATS[shown]]


def test_numbers_of_so_many_decimals():
    signed = [(-0.0004, 2, "0.00"), (0.25, 2, "+0.25"), (-1.5, 1, "−1.5"), (INF, 2, "+∞")]
    for value, places, text in signed:
        assert numbers.fixed(value, places, sign=True) == text
    assert [numbers.at_least_shown(value, 3) for value in (0.0, 9.81e-7, 0.0006)] == ["0.000", "<0.001", "0.001"]
    assert numbers.at_least_shown(0.0914, 3) == "0.091"
    assert numbers.interval(-0.02, INF, 2) == "−0.02 to ∞"
    assert numbers.interval(None, NAN, 2) == "–"
    assert numbers.interval(-INF, -INF, 2) == "−∞"


@pytest.mark.parametrize(
    ("widths", "ends", "places"),
    [
        # two digits of the narrowest half width: half of 0.0123 is 0.0062, of which two digits are four decimals
        ([0.0123], (), 4),
        ([0.11], (), 3),
        ([1.5, 0.2], (), 2),
        ([30.0], (), 0),
        ([], (), 4),
        ([0.0, INF, None], (), 4),
        ([1e-12], (), 8),
        # an end that is not zero is not shown as zero
        ([0.11], (0.00378, 0.11339), 3),
        ([0.11], (0.0, 0.11), 3),
        ([0.11], (-0.01, 0.1), 3),
        ([0.11], (None, INF), 3),
        ([0.11], (-0.0004, 0.1), 4),
        # nor is a column of tiny numbers: scores of 1e-9 were 0.00000000 in the table
        ([2e-10], (6.3e-10, 8.3e-10), 11),
        ([2e-10], (0.4, 0.5), 8),
        ([2e-300], (6.3e-300, 8.3e-300), 20),
    ],
)
def test_decimals(widths, ends, places):
    assert numbers.decimals(widths, ends=ends) == places


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
