"""`validate` against answers that are known: what it draws is what `compare` sees, and coverage is what theory says."""

import numpy as np
import pytest
from made_scores import make
from scipy.stats import norm

import probtruth as pt
from probtruth.comparison.evidence.crossed import annotator_cells
from probtruth.comparison.evidence.design import Structure, design
from probtruth.comparison.posterior.margins import margins
from probtruth.study.simulated_worlds import World
from probtruth.types import Partition

ERRORS = 3
"""Monte Carlo standard errors within which a known answer is met."""


def of_differences(values, **fields):
    return make([values, np.zeros(len(values))], "ab", **fields)


def normal_scores(n):
    """As a normal sample would be, were it perfectly even."""
    return norm.ppf((np.arange(n) + 0.5) / n)


@pytest.fixture(scope="module")
def plain():
    return pt.validate(of_differences(0.3 + normal_scores(80)), replications=600, seed=1)


def by_truth(found):
    return {row["truth"]: row for row in found.rows}


def near(row, name, wanted, slack=0.0):
    return abs(row[name] - wanted) <= ERRORS * row[f"{name}_error"] + slack


class TestKnownAnswers:
    def test_normal_differences_are_covered(self, plain):
        for row in plain.rows:
            error = ERRORS * row["coverage_error"]
            assert 0.95 - error <= row["coverage"] <= 0.96 + error, row  # the hull of two intervals: a little more

    def test_verdicts_as_often_as_the_t_test_has_power(self, plain):
        """Of a z-test with the t's critical value, its error known: .3/.1107 standard errors."""
        rows, shift = by_truth(plain), plain.difference / plain.standard_error
        assert near(rows["none"], "decides", 0.05)
        assert near(rows["given"], "decides", float(norm.cdf(shift - 1.99)), slack=0.01)
        assert rows["given"]["exaggeration"] > 1.05
        assert rows["half"]["exaggeration"] > rows["given"]["exaggeration"]

    def test_probabilities_and_monitor(self, plain):
        assert plain.calibration["error"] < 0.03 + ERRORS * plain.calibration["error_error"]
        assert plain.calibration["wrong_when_sure"] < 0.025
        assert plain.monitor["method"] == "asymptotic"
        assert plain.monitor["false_alarms"] < 0.05
        assert plain.monitor["decides"] > 0.99
        assert plain.monitor["median_items"] < 270  # 3 x 90, what a fixed test needs
        assert plain.warnings == ()

    @pytest.mark.long
    def test_contamination_is_not_covered_and_said(self):
        """One item in 50 lies far out: a study that lacks it (.98^50 = .36) cannot know."""
        found = pt.validate(of_differences(np.r_[0.01 * normal_scores(49), 100.0]), replications=600)
        missed = 1 - by_truth(found)["given"]["coverage"]
        assert missed > 0.3
        assert any("95% intervals hold" in line for line in found.warnings)

    @pytest.mark.long
    def test_clusters_that_are_not_named_are_not_covered(self):
        rng = np.random.default_rng(2)
        values = np.repeat(rng.normal(size=40), 5)
        names = [str(item // 5) for item in range(200)]
        sound = pt.validate(of_differences(values), clusters=names, replications=200)
        assert by_truth(sound)["none"]["coverage"] > 0.92
        assert (sound.clustered, sound.n_units, sound.n_items) == (True, 40, 200)
        world = World.of(values, Structure.of(np.zeros(200, np.int64), np.arange(200) // 5), np.ones(1), 5.0, 0.0)
        rng, held = np.random.default_rng(3), 0
        for picks in world.moved(0.0).picks(rng, 60):
            rows = np.repeat(world.moved(0.0).values[world.first[picks]], 5)
            (pair,) = pt.compare(of_differences(rows), engine="exact", draws=50).pairs
            held += pair["low"] <= 0 <= pair["high"]
        assert held / 60 < 0.75


class TestSameAsCompare:
    @pytest.mark.parametrize("kind", ["skewed", "right or wrong", "clusters", "groups"])
    def test_a_study_is_judged_as_compare_judges_it(self, kind):
        rng = np.random.default_rng(4)
        n, fields = 60, {}
        values = rng.exponential(size=n) - 0.7
        if kind == "right or wrong":
            values = rng.choice([-1.0, 0.0, 0.0, 0.0, 1.0], n)
        groups = np.repeat([0, 1, 2], 20) if kind == "groups" else np.zeros(n, np.int64)
        clusters = np.repeat(np.arange(20), 3) if kind == "clusters" else None
        if kind == "groups":
            fields = {"groups": Partition(groups, ("x", "y", "z"))}
        if kind == "clusters":
            fields = {"clusters": Partition(clusters, tuple(map(str, range(20))))}
        scores = of_differences(values, **fields)
        world = World.of(values, Structure.of(groups, clusters), design(scores, None, None, None).weights, 5.0, 0.0)
        unit = np.arange(n) if clusters is None else clusters
        drawn = world.picks(np.random.default_rng(9), 1)[0]
        (place,) = world.studies(np.random.default_rng(9), 1)
        items = np.concatenate([np.flatnonzero(unit == one) for one in drawn])
        again = {}
        if kind == "groups":
            again = {"groups": Partition(groups[items], ("x", "y", "z"))}
        if kind == "clusters":
            again = {"clusters": Partition(np.repeat(np.arange(20), 3), tuple(map(str, range(20))))}
        pair = pt.compare(of_differences(values[items], **again), engine="exact", draws=50).pairs[0]
        (margin,) = margins(place)
        assert (margin.mean, *margin.interval()) == (pair["difference"], pair["low"], pair["high"])
        assert margin.below(0.0) == pair["p_a_better"]

    def test_with_annotators(self):
        rng = np.random.default_rng(6)
        label = rng.integers(0, 2, (30, 4))
        rows = {
            "item": np.repeat(np.arange(30), 4), "annotator": np.tile(np.arange(4), 30), "label": label.ravel(),
        }  # fmt: skip
        annotations = pt.Annotations.from_long(rows)
        probs = {name: rng.dirichlet([2, 2], 30) for name in "ab"}
        truth = pt.infer_truth(annotations, method="vote-share")
        scores = pt.score(pt.Predictions.from_probs(probs), truth, rule="brier")
        cells = annotator_cells(scores, annotations)
        difference, each = scores.values[0] - scores.values[1], cells.of(0) - cells.of(1)
        within = Structure.of(np.zeros(30, np.int64), None)
        world = World.of(difference, within, np.ones(1), 2.0, 2.0, True, each)
        items, (place,) = world.picks(np.random.default_rng(9), 1)[0], world.studies(np.random.default_rng(9), 1)
        random = np.random.default_rng(9)
        world.picks(random, 1)
        judges = random.integers(4, size=4)
        again = pt.Annotations.from_long(rows | {"label": label[items][:, judges].ravel()})
        drawn = pt.Predictions.from_probs({name: table[items] for name, table in probs.items()})
        scored = pt.score(drawn, pt.infer_truth(again, method="vote-share"), rule="brier")
        pair = pt.compare(scored, annotations=again, engine="exact", draws=50).pairs[0]
        (margin,) = margins(place)
        np.testing.assert_allclose(
            [margin.mean, *margin.interval(), margin.below(0.0)],
            [pair[name] for name in ("difference", "low", "high", "p_a_better")],
            rtol=1e-9,  # the mean of an item's cells for its expected score: rounding
        )
        found = pt.validate(scores, annotations=annotations, replications=80)
        assert found.monitor["method"] == "betting"
        assert any("4 annotators to draw from" in said for said in found.warnings)


class TestForms:
    def test_tables_and_dict(self, plain):
        table = plain.table()
        assert table["truth"].to_list() == ["none", "half", "given", "drawn"]
        assert table["difference"].to_list()[:3] == [0.0, plain.difference / 2, plain.difference]
        assert plain.curve()["studies"].sum() == 600
        assert plain.to_dict()["table"] == [dict(row) for row in plain.rows]
        assert plain.difference == pytest.approx(0.3)

    def test_progress_and_seed(self):
        scores, heard = of_differences(normal_scores(30)), []
        first = pt.validate(
            scores, replications=80, seed=3, on_progress=lambda done, total: heard.append((done, total))
        )
        assert heard[-1][0] == heard[-1][1] == 80 * 6
        assert first.to_dict() == pt.validate(scores, replications=80, seed=3).to_dict()
        assert first.to_dict() != pt.validate(scores, replications=80, seed=4).to_dict()

    def test_more_items_narrower(self):
        scores = of_differences(normal_scores(40))
        few, many = (pt.validate(scores, n_items=n, replications=80) for n in (20, 80))
        assert (few.n_items, many.n_items) == (20, 80)
        assert few.rows[0]["width"] > 1.8 * many.rows[0]["width"]
        assert few.standard_error == pytest.approx(2 * many.standard_error)

    def test_names_turn_the_sign_and_nothing_else(self):
        values = np.random.default_rng(8).exponential(size=40)
        one = pt.validate(make([values, 0 * values], "ab"), "a", "b", replications=80)
        other = pt.validate(make([values, 0 * values], "ab"), "b", "a", replications=80)
        assert one.difference == -other.difference
        assert one.rows[1]["coverage"] == other.rows[1]["coverage"]

    def test_a_result_will_do_and_right_or_wrong_bets(self):
        right = np.random.default_rng(0).choice([0.0, 1.0], (2, 50))
        scores = make(right, "ab")
        found = pt.validate(scores, replications=40)
        assert found.monitor["method"] == "betting"
        named = pt.Scores.from_frame(
            {"item": [*range(50)] * 2, "model": ["a"] * 50 + ["b"] * 50, "score": right.ravel()}, higher_is_better=True
        )
        assert pt.validate(named, bounds=(0, 1), replications=40).monitor["method"] == "betting"

    def test_few_units_are_said(self):
        lines = pt.validate(of_differences(normal_scores(12)), replications=40).warnings
        assert any("12 items to draw from" in line for line in lines)
        lines = pt.validate(of_differences(np.repeat([0.0, 1.0], [40, 10])), replications=40).warnings
        assert any("models exchanged" in line for line in lines)

    def test_large_designs_have_fewer_studies(self):
        """A study of every batch is counted before it is compared: five truths, the prior's in lots of 40."""

        class Enough(Exception):
            pass

        totals = []

        def stop(done, total):
            totals.append(total)
            raise Enough

        for n_items in (100, 40_000, 10**6):
            with pytest.raises(Enough):
                pt.validate(of_differences(normal_scores(100)), n_items=n_items, on_progress=stop)
        assert totals == [6 * 4000, 6 * 1000, 6 * 400]


@pytest.mark.parametrize(
    ("scores", "options", "error", "words"),
    [
        ([1.0], {}, pt.errors.PosteriorError, "one unit"),
        ([1.0, 1.0, 1.0], {}, pt.errors.PosteriorError, "the same difference everywhere"),
        ([1.0, np.inf, 2.0], {}, pt.errors.PosteriorError, "with a floor"),
        ([1.0, 2.0, 3.0], {"replications": 3}, pt.InputError, "replications 3"),
        ([1.0, 2.0, 3.0], {"difference": "x"}, pt.InputError, "difference 'x'"),
        ([0.0, 1.0, -1.0], {"difference": 2.0}, pt.InputError, "true difference of 2"),
        ([0.0, 1.0, -1.0], {"bounds": (0, 1)}, pt.InputError, "outside the bounds"),
        ([0.0, 1.0, -1.0], {"n_items": 1}, pt.InputError, "n_items 1"),
        (
            [0.0, 1.0, -1.0, 0.5],
            {"n_items": 2, "clusters": ["x", "x", "y", "y"]},
            pt.errors.PosteriorError,
            "of one unit",
        ),
        ([0.0, 1.0, -1.0], {"alpha": 2}, pt.InputError, "got alpha"),
    ],
)
def test_errors(scores, options, error, words):
    with pytest.raises(error, match=words):
        pt.validate(of_differences(np.array(scores)), **options)


def test_something_else():
    with pytest.raises(pt.InputError, match="got dict"):
        pt.validate({})
