"""What the cells say is what the rows hold."""

from dataclasses import replace

import numpy as np

from probtruth.report.tables import annotators, checks, models, pairs


def shown(table):
    return [["".join(cell.text) for cell in row] for row in table.rows]


def titles(table):
    return ["".join(column.title) for column in table.columns]


def test_models_in_their_order_with_divergence(result):
    table = models.models(result)
    assert titles(table)[1] == "Mean log loss (nats)"
    assert "Divergence" in titles(table)
    assert [row[0] for row in shown(table)] == [row["model"] for row in result.comparison.ranks]
    assert shown(table)[0][1] == f"{result.comparison.ranks[0]['score']:.3f}"


def test_infinite_losses_get_a_column_and_sort_last(result):
    values = result.scores.values.copy()
    values[0, :3] = np.inf
    ranks = [{**row, "score": np.inf, "low": np.inf, "high": np.inf} for row in result.comparison.ranks]
    changed = replace(
        result, scores=replace(result.scores, values=values), comparison=replace(result.comparison, ranks=ranks)
    )
    table = models.models(changed)
    column = titles(table).index("Infinite on")
    assert {row[0]: row[column] for row in shown(table)}[result.scores.models[0]] == "3"
    assert shown(table)[0][1] == "∞"


def test_bare_scores_have_no_divergence_and_no_rope_column(make):
    result = make["bare"](3)
    assert "Divergence" not in titles(models.models(result))
    assert "P(equivalent)" not in titles(pairs.pairs(result))
    assert "P(equivalent)" in titles(pairs.pairs(make["bare"](3, rope=0.1)))


def test_higher_is_better_says_so(make):
    result = make["bare"](3, higher_is_better=True)
    assert "higher is better" in "".join(models.models(result).note)
    assert "positive favours a" in "".join(pairs.pairs(result).note)


def test_matrix_is_antisymmetric_and_shaded(result):
    table = pairs.matrix(result)
    size = len(result.scores.models)
    for row in range(size):
        for column in range(size):
            cell = table.rows[row][column + 1]
            if row == column:
                assert cell.text == ("",)
            else:
                other = table.rows[column][row + 1]
                assert abs(cell.sort + other.sort - 1) < 1e-12  # 1 - p, rounded once
                assert cell.shade == round(cell.sort * pairs.SHADES)


def test_matrix_and_pairs_of_many_models_are_cut_and_say_so(make):
    result = make["bare"](32)
    assert len(pairs.matrix(result).rows) == pairs.MOST_IN_MATRIX
    assert "of 32 models" in "".join(pairs.matrix(result).note)
    assert len(pairs.pairs(result).rows) == pairs.MOST_PAIRS
    assert "of 496 pairs" in "".join(pairs.pairs(result).note)


def test_item_tables(result, make):
    assert len(annotators.disputed(result).rows) == 10
    assert titles(pairs.divided(result))[2:] == [
        "nearest-neighbours says",
        "logistic says",
        "nearest-neighbours scores",
        "logistic scores",
    ]
    assert annotators.disputed(make["bare"](2)) is None
    assert titles(pairs.divided(make["bare"](2))) == ["Item", "model-00 scores", "model-01 scores"]


def test_settings_name_versions_and_unknowns(result):
    found = dict(shown(checks.settings(result)))
    assert found["seed"] == "0"
    assert found["floor"] == "–"
    assert found["version of probtruth"] == "0.1.0"
