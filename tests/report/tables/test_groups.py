"""By group: the leading pair in every group, every model against the leading one, and the line for the terminal."""

import pytest

from probtruth.report.formats.markdown import markdown
from probtruth.report.formats.terminal import summary
from probtruth.report.tables.pairs import against_leader, by_group, group_matrix, in_groups

LOSSES = {"left": -0.2, "middle": 0.1, "right": -0.3}
"""Differences of losses, the first model by name minus the second: negative favours the first."""


@pytest.fixture
def grouped(make):
    """Three models in three groups; the first leads, the second comes next, the third is behind by 1 everywhere."""

    def made(higher_is_better=False):
        result = make["bare"](3, higher_is_better=higher_is_better)
        rows = []
        for group, gap in LOSSES.items():
            p = 0.99 if gap < 0 else 0.2
            for a, b, loss, chance in (("00", "01", gap, p), ("00", "02", -1.0, 0.999), ("01", "02", -0.8, 0.999)):
                ends = {"low": loss - 0.1, "high": loss + 0.2}
                rows.append(
                    {"group": group, "a": f"model-{a}", "b": f"model-{b}", "difference": loss, "n_items": 20, **ends}
                    | {"p_a_better": chance}
                )
        return make["rewrite"](result, of_groups=lambda: rows)

    return made


def words(sentence):
    return "".join(sentence)


def test_the_leading_pair_stands_in_every_group(grouped):
    result = grouped()
    table = by_group(result)
    assert [words(row[0].text) for row in table.rows] == ["left", "middle", "right"]
    assert [row[2].sort for row in table.rows] == [-0.2, 0.1, -0.3]
    shown = markdown(result)
    assert "The two leading models in every group" in shown
    assert "Every model against the leading one, by group" in shown


def test_signs_are_those_of_the_scores_that_were_given(grouped):
    """Of accuracies the better model's difference is positive: losses -0.2 (-0.3 to 0.0) are +0.2 (0.0 to 0.3)."""
    table = by_group(grouped(higher_is_better=True))
    assert table.rows[0][2].sort == 0.2
    assert words(table.rows[0][3].text) == "0.00 to 0.30"
    assert "positive favours the first" in words(table.note)


def test_every_model_is_set_against_the_leading_one(grouped):
    """By hand: model-01 minus model-00 is +0.2 where model-00 minus model-01 is -0.2, and P turns round."""
    cells = against_leader(grouped().comparison)
    assert cells["left", "model-01"] == (pytest.approx(0.2), pytest.approx(0.01))
    assert cells["middle", "model-02"] == (pytest.approx(1.0), pytest.approx(0.001))
    table = group_matrix(grouped())
    assert [words(column.title) for column in table.columns] == ["Group", "model-01", "model-02"]
    assert [cell.shade for cell in table.rows[0][1:]] == [0, 0]
    assert table.rows[1][1].shade == 16  # P(better) = 0.8 of 20 steps


def test_a_line_says_in_how_many_groups(grouped):
    said = words(in_groups(grouped()))
    assert said == (
        "By group: model-00 is ahead of model-01 in 2 of 3 groups, with P ≥ 0.95 in 2; not ahead in middle "
        "(least: P = 0.20)."
    )
    assert "By group: " in "".join(str(part) for part in summary(grouped()))


def test_without_groups_there_is_nothing(result):
    assert by_group(result) is None
    assert group_matrix(result) is None
    assert in_groups(result) is None
