"""What the tables of checks show is what was computed."""

from dataclasses import replace

import numpy as np
import pytest

from probtruth.report.tables import checks
from probtruth.report.words.sentences import Name
from probtruth.types import Audit

SENSITIVITY = {"prior_half": 0.86, "prior_double": 0.88, "likelihood_half": 0.8, "likelihood_double": 0.95}


def shown(table):
    return [["".join(cell.text) for cell in row] for row in table.rows]


def titles(table):
    return ["".join(column.title) for column in table.columns]


def test_audit_counts_by_model(result):
    assert checks.audit(result) is None
    audit = Audit(("i1", "i2"), ("x",), (("logistic", 2, 0), ("other", 0, 1)))
    table = checks.audit(replace(result, scores=replace(result.scores, audit=audit)))
    assert shown(table) == [["logistic", "2", "0"], ["other", "0", "1"]]
    assert table.note == ("3 items took no part, for any model.",)


def test_diagnostics_unknown_is_a_dash_and_is_explained(make, result):
    nothing = dict.fromkeys(("max_rhat", "min_ess", "divergences", "engines_agree"))
    table = checks.diagnostics(make["demo"](diagnostics=nothing))
    assert [row[1] for row in shown(table)] == ["–"] * 4
    assert table.note
    assert not checks.diagnostics(result).note


def test_sensitivity_marks_names_and_keeps_to_what_differs(make):
    pair = {"what": "P(model-00 better than model-01)", "kind": "pair", "p": 0.87, **SENSITIVITY}
    best = {"what": "P(model-00 best)", "kind": "best", "p": 0.87, **SENSITIVITY}
    two = make["rewrite"](make["bare"](2), sensitivity=[pair, best])
    table = checks.sensitivity(two)
    assert shown(table) == [["P(model-00 better than model-01)", "0.87", "0.86", "0.88", "0.80", "0.95"]]
    assert [piece for piece in table.rows[0][0].text if isinstance(piece, Name)] == ["model-00", "model-01"]
    three = make["rewrite"](make["bare"](3), sensitivity=[pair, best])
    assert len(checks.sensitivity(three).rows) == 2
    assert checks.sensitivity(make["bare"](3)) is None


def test_sensitivity_of_unknown_powers_is_a_dash(make):
    row = {"what": "P(model-00 better than model-01) in the population of groups", "kind": "population", "p": 0.5}
    table = checks.sensitivity(make["rewrite"](make["bare"](2), sensitivity=[row]))
    assert shown(table)[0][2:] == ["–"] * 4


def test_companions_show_those_that_are_known(result, make):
    assert "p (sign flips)" not in titles(checks.companions(result))
    more = [{**row, "sign_flip_p": 0.04, "bootstrap_p_a_better": 0.9} for row in result.comparison.companions]
    table = checks.companions(make["rewrite"](result, companions=more))
    assert titles(table)[-1] == "P(a better), bootstrap"
    assert shown(table)[0][-1] == "0.90"
    assert shown(table)[0][titles(table).index("p (sign flips)")] == "0.04"
    assert checks.companions(make["rewrite"](result, companions=[])) is None


def test_companions_of_many_items_say_how_far_they_can_be_off(result, make):
    assert "too many items" not in "".join(checks.companions(result).note)
    rows = [
        {**row, "wilcoxon_p_error": 0.001 * place, "sign_flip_p_error": None}
        for place, row in enumerate(result.comparison.companions, 1)
    ]
    said = "".join(checks.companions(make["rewrite"](result, companions=rows)).note)
    assert f"at most {0.001 * len(rows):.4f} for the signed-rank test." in said


def test_predictive_is_of_the_two_leading_models(result):
    a, b = "logistic", "nearest-neighbours"
    pair = result.analysis.replicates
    assert (pair.a, pair.b) == (a, b)
    values, models = result.scores.values, result.scores.models
    np.testing.assert_array_equal(pair.differences, values[models.index(a)] - values[models.index(b)])
    table = checks.predictive(result)
    assert shown(table)[0][0] == "Mean difference"
    assert [piece for piece in table.note if isinstance(piece, Name)] == [a, b]


def test_nothing_to_replicate_of_infinite_losses(result):
    values = result.scores.values.copy()
    values[:, 0] = np.inf
    infinite = replace(result, scores=replace(result.scores, values=values))
    assert infinite.analysis.replicates is None
    assert checks.predictive(infinite) is None


def test_a_sampled_truth_is_checked_too(result, make):
    truth = replace(
        result.truth,
        sampled={"agreement": np.linspace(0.8, 0.9, 101)[None]},
        diagnostics={"agreement": 0.85, "p_agreement": 0.5},
    )
    last = shown(checks.predictive(make["relabel"](result, truth=truth)))[-1]
    assert last[0] == "Share of agreeing pairs of annotations"
    assert last[1:] == ["0.850", "0.802 to 0.897", "0.50"]


@pytest.mark.parametrize(("differences", "can"), [([1.0, 2.0, 3.0], True), ([1.0, 2.0], False), ([2.0] * 5, False)])
def test_three_differences_that_vary_are_replicated(make, differences, can):
    bare = make["bare"](2, len(differences))
    values = np.stack([np.zeros(len(differences)), differences])
    few = replace(bare, scores=replace(bare.scores, values=values))
    assert bool(few.analysis.replicates.rows) is can
