"""What the cells say is what the rows hold; never more rows than a reader takes in."""

from dataclasses import replace

import numpy as np
import pytest
from simulated_annotations import answered

import probtruth as pt
from probtruth.report import data_tables, numbers, tables
from probtruth.report.markdown import markdown
from probtruth.report.names import unmarked
from probtruth.report.terminal import summary
from probtruth.types.pairs import Pair


def shown(table):
    return [[unmarked(cell) for cell in row] for row in table.rows]


def titles(table):
    return list(map(unmarked, table.heads))


def column(table, head):
    return dict(zip((unmarked(cell) for cell in table.columns[table.heads[0]]), table.columns[head], strict=True))


def test_models_in_their_order_with_divergence_and_accuracy(result):
    """Accuracy by hand: the mean share of votes for the label that the model finds most probable."""
    table = tables.models(result)
    assert titles(table)[1] == "Mean log loss (nats)"
    assert [row[0] for row in shown(table)] == [row["model"] for row in result.comparison.ranks]
    assert shown(table)[0][1] == f"{result.comparison.ranks[0]['score']:.3f}"
    aligned = result.labelled.aligned
    top = aligned.log_probs[0].argmax(-1)
    share = float(aligned.truth[range(len(top)), top].mean())
    assert column(table, "Accuracy")[aligned.models[0]] == f"{share:.3f}"
    assert "Divergence" in titles(table)


def test_each_label_stands_next_to_the_mean_with_the_same_model_first():
    """The model that is better in the mean is a in every row, also of the label on which it is worse."""
    votes = {"item": [1, 2, 3, 4], "annotator": ["p"] * 4, "toxic": [1, 0, 1, 0], "insult": [0, 1, 0, 1]}
    better = {"item": [1, 2, 3, 4], "toxic": [0.9, 0.2, 0.7, 0.1], "insult": [0.5, 0.4, 0.5, 0.4]}
    other = {"item": [1, 2, 3, 4], "toxic": [0.4, 0.5, 0.6, 0.4], "insult": [0.4, 0.6, 0.5, 0.5]}
    result = pt.evaluate_labels(votes, {"x": other, "y": better}, ["toxic", "insult"], rule="brier", engine="exact")
    table = tables.labels(result)
    assert [row[:3] for row in shown(table)] == [[label, "y", "x"] for label in ("toxic", "insult", "mean of all")]
    of_labels = [one.comparison.pair("y", "x") for one in result.by_label.values()]
    cells = shown(table)
    for row, pair in zip(cells, [*of_labels, result.comparison.pair("y", "x")], strict=True):
        places = numbers.places_of([pair])
        assert row[3] == numbers.fixed(pair.difference, places, sign=True)
        assert row[5] == numbers.probability(pair.p_a_better)
    assert of_labels[1].p_a_better < 0.5
    assert tables.labels(pt.Result.of(result.comparison)) is None


def test_accuracy_under_class_is_that_of_the_inferred_classes(result, make):
    """Votes say 0.6, the method is sure: a model that names its class is right."""
    shares = np.tile([0.6, 0.4], (40, 1))
    truth = pt.Truth(
        np.tile([1.0, 0.0], (40, 1)), pt.Annotations.from_counts(np.tile([3, 2], (40, 1))).index, "class", "mine",
        shares=shares, n_votes=np.full(40, 5),
    )  # fmt: skip
    found = pt.evaluate(truth, {"a": np.tile([0.9, 0.1], (40, 1))}, engine="exact")
    assert found.analysis.accuracy == {"a": 1.0}


def test_infinite_losses_get_a_column(result):
    values = result.scores.values.copy()
    values[0, :3] = np.inf
    ranks = [replace(row, score=np.inf, low=np.inf, high=np.inf) for row in result.comparison.ranks]
    changed = replace(
        result, scores=replace(result.scores, values=values), comparison=replace(result.comparison, ranks=ranks)
    )
    table = tables.models(changed)
    assert column(table, "Infinite on")[result.scores.models[0]] == "3"
    assert shown(table)[0][1] == "∞"


def test_bare_scores_have_no_divergence_and_no_rope_column(make):
    bare = make["bare"](3)
    assert "Divergence" not in titles(tables.models(bare))
    assert "P(equivalent)" not in titles(tables.pairs(bare))
    assert "P(equivalent)" in titles(tables.pairs(make["bare"](3, rope=0.1)))


def test_higher_is_better_says_so(make):
    bare = make["bare"](3, higher_is_better=True)
    assert "higher is better" in tables.models(bare).note
    assert "positive favours a" in tables.pairs(bare).note


def test_pairs_of_many_models_are_cut_and_say_so(make):
    many = make["bare"](32)
    pairs = tables.pairs(many)
    lead = unmarked(pairs.rows[0][0])
    assert lead == many.comparison.ranks[0]["model"]
    assert [unmarked(cell) for cell in pairs.columns["a"]] == [lead] * 31, "the leader's pairs"
    assert "of 496 in all" in pairs.note


def test_the_other_estimand_is_named_with_its_method(result, make):
    table = tables.other_estimand(result)
    assert titles(table)[1::2] == ["Mean, distribution", "Mean, class"]
    assert "Do you report opinions (distribution), or right answers (class)?" in table.note
    assert tables.other_estimand(make["relabel"](result)) is None


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
                if higher_is_better:
                    loss, ends = -loss, {"low": -ends["high"], "high": -ends["low"]}
                rows.append(
                    {"group": group, "a": f"model-{a}", "b": f"model-{b}", "difference": loss, "n_items": 20, **ends}
                    | {"p_a_better": chance}
                )
        return make["rewrite"](result, of_groups=lambda: [Pair(**row) for row in rows])

    return made


def test_the_leading_pair_stands_in_every_group(grouped):
    table = tables.by_group(grouped())
    assert column(table, "Difference") == {"left": "−0.20", "middle": "+0.10", "right": "−0.30"}
    text = markdown(grouped())
    assert "The two leading models in every group" in text
    assert "By group: " in "".join(str(part) for part in summary(grouped()))


def test_signs_of_groups_are_those_of_the_scores_that_were_given(grouped):
    """Of accuracies the better model's difference is positive: losses -0.2 (-0.3 to 0.0) are +0.2 (0.0 to 0.3)."""
    table = tables.by_group(grouped(higher_is_better=True))
    assert shown(table)[0][2:4] == ["+0.20", "0.00 to 0.30"]
    assert "positive favours the first" in table.note


def test_without_groups_there_is_nothing(result):
    assert tables.by_group(result) is None


def test_item_tables(result, make):
    table = data_tables.items(result)
    assert titles(table) == ["Item", "Labels", "Entropy", "nearest-neighbours says", "logistic says", "nearest-neighbours", "logistic"]  # fmt: skip  # noqa: E501
    assert len(table.rows) == 200
    assert "200 of 899 items; items.parquet has all" in table.note
    assert titles(data_tables.items(make["bare"](2))) == ["Item", "model-00", "model-01"]


def test_annotators_come_from_the_other_estimand_where_the_requested_one_knows_none(result, make):
    table = data_tables.annotators(result)
    assert len(table.rows) == 12
    assert table.note.startswith("By other, which takes each item to have one true class")
    assert data_tables.annotators(make["relabel"](result)) is None


def test_many_annotators_are_the_best_the_worst_and_the_flagged(result, make):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 80)
    good = [np.where(rng.random(80) < 0.9, truth, rng.integers(0, 3, 80)) for _ in range(40)]
    spam = [rng.integers(0, 3, 80) for _ in range(15)]
    inferred = pt.infer_truth(answered(np.stack([*good, *spam], 1)), "dawid-skene-em", draws=0)
    table = data_tables.annotators(make["relabel"](result, inferred))
    assert len(table.rows) <= 2 * data_tables.MOST_ANNOTATORS
    assert "of 55 annotators" in table.note
    assert table.columns["Flag"].count("spammer") >= 10


def test_diagnostics_that_an_engine_does_not_have_are_left_out(make):
    nothing = dict.fromkeys(("max_rhat", "min_ess", "divergences"))
    assert tables.diagnostics(make["demo"](diagnostics=nothing)) is None
    some = tables.diagnostics(make["demo"](diagnostics={**nothing, "min_ess": 9000.4}))
    assert shown(some) == [["Smallest effective sample size", "9,000", "at least 400"]]


def test_a_sampler_of_some_tables_is_not_said_of_all(make):
    drawn = {"sampler": "NUTS, 4 chains of 400 draws", "min_ess": 900.0}
    note = tables.diagnostics(make["demo"](diagnostics={**drawn, "engine": "exact"})).note
    assert note.endswith("It made what is said of groups; all else is in closed form or by quadrature.")
    assert tables.diagnostics(make["demo"](diagnostics={**drawn, "engine": "nuts"})).note.endswith("400 draws.")


def test_model_free_tests_show_those_that_are_known(result, make):
    rows = result.comparison.model_free
    assert column(tables.tests(result), "p (sign flips)")["nearest-neighbours"] == "<0.001"
    fewer = [{name: value for name, value in row.items() if "sign_flip" not in name} for row in rows]
    assert "p (sign flips)" not in titles(tables.tests(make["rewrite"](result, tests=lambda: fewer)))
    assert tables.tests(make["rewrite"](result, tests=lambda: [])) is None


def test_settings_name_versions_and_unknowns(result):
    found = dict(shown(tables.settings(result)))
    assert found["seed"] == "0"
    assert found["floor"] == "–"
    assert found["version of probtruth"] == "0.1.0"


def test_a_tree_that_is_not_installed_has_a_version(monkeypatch):
    from importlib import metadata

    from probtruth.kernels.host import versions

    def missing(name):
        if name == "probtruth":
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(metadata, "version", missing)
    assert versions()["probtruth"] == pt.__version__
