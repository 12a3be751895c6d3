"""`validate` against answers that are known: coverage and verdicts are what theory says."""

import numpy as np
import pandas
import polars
import pytest
from made_scores import cells, make
from scipy.stats import norm

import probtruth as pt

ERRORS = 3  # Monte Carlo standard errors within which a known answer is met


def of_differences(values, **fields):
    return make([values, np.zeros(len(values))], "ab", **fields)


def normal_scores(n):
    """As a normal sample would be, were it perfectly even."""
    return norm.ppf((np.arange(n) + 0.5) / n)


@pytest.fixture(scope="module")
def plain():
    return pt.validate(of_differences(0.3 + normal_scores(80)), replications=150, seed=1)


def by_truth(found):
    return {row["truth"]: row for row in found.rows}


@pytest.mark.long
def test_normal_differences_are_covered(plain):
    for row in plain.rows:
        error = ERRORS * row["coverage_error"]
        assert 0.95 - error <= row["coverage"] <= 0.96 + error, row  # a skewed sample's interval: a little more


def test_verdicts_as_often_as_the_t_test_has_power(plain):
    """Of a z-test with the t's critical value, its error known: .3/.1107 standard errors."""
    rows, shift = by_truth(plain), 0.3 / (normal_scores(80).std(ddof=1) / 80**0.5)
    assert abs(rows["none"]["decides"] - 0.05) <= ERRORS * rows["none"]["decides_error"]
    wanted = float(norm.cdf(shift - 1.99))
    assert abs(rows["given"]["decides"] - wanted) <= ERRORS * rows["given"]["decides_error"] + 0.02
    assert rows["half"]["exaggeration"] > rows["given"]["exaggeration"] > 1.05
    assert rows["none"]["wrong_sign"] is None


@pytest.mark.long
def test_clusters_and_groups_are_drawn_as_they_are():
    rng = np.random.default_rng(2)
    values, names = np.repeat(rng.normal(size=40), 5), [str(item // 5) for item in range(200)]
    sound = pt.validate(of_differences(values), clusters=names, replications=60)
    assert (sound.n_units, sound.n_items) == (40, 200)
    assert by_truth(sound)["given"]["coverage"] > 0.85
    blind = pt.validate(of_differences(values), replications=10)
    assert by_truth(blind)["given"]["width"] < 0.6 * by_truth(sound)["given"]["width"]
    apart = of_differences(np.r_[normal_scores(30), 50 + normal_scores(30)])
    grouped = pt.validate(apart, groups=["x"] * 30 + ["y"] * 30, difference=25.1, replications=10)
    assert by_truth(grouped)["given"]["width"] < 2  # the groups' means, 50 apart, are no spread of items


@pytest.mark.long
def test_groups_are_matched_by_the_names_of_the_items_also_on_a_board():
    """A Series was read by position, whatever its index, and a list was refused where a model lacked an item."""
    rng = np.random.default_rng(0)
    items = [f"q{at:02d}" for at in range(40)]
    groups = pandas.Series(["u"] * 20 + ["v"] * 20, items)
    values = rng.normal(size=(2, 40))
    values[0, :20] += 3.0
    values[1, 5] = np.nan
    wide = polars.DataFrame({"item": items, "x": values[0], "y": values[1]})
    scores = pt.read_scores(wide, models=["x", "y"], higher_is_better=True)
    shuffled = groups.sample(frac=1, random_state=1)
    rows = []
    for given in (groups.to_dict(), groups, shuffled, groups.to_list()):
        planned = pt.plan(scores, "x", "y", groups=given, n_items=100)
        rows.append((planned.designs, pt.validate(scores, "x", "y", groups=given, replications=3).rows))
    assert rows[1:] == rows[:1] * 3
    for said in (planned, pt.validate(scores, "x", "y", replications=2)):
        assert "about the 39 of 40 items that both models have" in said.warnings[0]
    by_position = pt.validate(scores, "x", "y", groups=shuffled.to_list(), replications=3).rows
    assert by_position != rows[0][1]


def test_rare_outcomes_are_not_covered_and_what_is_unseen_is_said():
    """One item in 50 lies far out: a study that lacks it (.98^50 = .36) cannot know."""
    found = pt.validate(of_differences(np.r_[0.01 * normal_scores(49), 100.0]), replications=100)
    assert 1 - by_truth(found)["given"]["coverage"] > 0.2
    assert any("95% intervals hold" in line for line in found.warnings)
    assert "rarer than 1 in 50 cannot be seen here" in found.note


@pytest.mark.long
def test_another_difference_sizes_seed_and_progress():
    scores, heard = of_differences(normal_scores(40)), []
    few = pt.validate(scores, n_items=20, difference=-0.4, replications=20, on_progress=lambda *at: heard.append(at))
    many = pt.validate(scores, n_items=80, difference=-0.4, replications=20)
    assert heard[-1] == (60, 60)
    assert (few.n_items, many.n_items) == (20, 80)
    assert few.rows[2]["width"] > 1.7 * many.rows[2]["width"]
    assert [row["difference"] for row in few.rows] == [0.0, -0.2, -0.4]
    again = pt.validate(scores, n_items=20, difference=-0.4, replications=20)
    assert few.to_dict() == again.to_dict() != pt.validate(scores, n_items=20, replications=20).to_dict()
    turned = pt.validate(
        make([0 * scores.values[0], scores.values[0]], "ba"), "b", "a", difference=0.4, replications=20
    )
    assert turned.difference == 0.4
    assert few.table().columns == turned.table().columns


def test_models_named_the_other_way_round_have_the_same_studies():
    """The interval was of a minus b by name, the true difference as the caller named them: coverage 0.00 of 1.00."""
    scores = of_differences(0.5 + normal_scores(40))
    there, back = (by_truth(pt.validate(scores, *names, replications=20)) for names in ("ab", "ba"))
    for truth, row in there.items():
        same = {name: value for name, value in row.items() if name != "difference"}
        assert back[truth] == {**same, "difference": -row["difference"]}


def test_studies_of_the_same_annotators_say_so():
    """The interval of `compare` was 1.8 times as wide as those of the studies, in silence."""
    rng = np.random.default_rng(5)
    rows = cells(rng, 0.5 * rng.normal(size=5), 40, 5, 1, 1)
    scores = pt.Scores.from_frame(rows, annotator="annotator", higher_is_better=False)
    pair = pt.compare(scores, engine="exact").pairs[0]
    found = pt.validate(scores, replications=2)
    assert found.rows[2]["width"] < 0.8 * (pair.high - pair.low)
    assert found.warnings[0].startswith("all studies have the annotators of the data")
    assert not pt.validate(of_differences(normal_scores(40)), replications=2).warnings


def test_one_sided_differences_are_said():
    lines = pt.validate(of_differences(3 + normal_scores(12)), replications=20).warnings
    assert any("hardly ever the worse one" in line for line in lines)


@pytest.mark.parametrize(
    ("scores", "options", "error", "words"),
    [
        ([1.0], {}, pt.errors.PosteriorError, "one unit"),
        ([1.0, 1.0, 1.0], {}, pt.errors.PosteriorError, "the same difference everywhere"),
        ([1.0, np.inf, 2.0], {}, pt.errors.PosteriorError, "use a floor"),
        ([1.0, 2.0, 3.0], {"replications": 1}, pt.InputError, "replications 1"),
        ([1.0, 2.0, 3.0], {"difference": "x"}, pt.InputError, "difference 'x'"),
        ([0.0, 1.0, -1.0], {"difference": 2.0}, pt.InputError, "true difference of 2"),
        ([0.0, 1.0, -1.0], {"n_items": 1}, pt.InputError, "n_items 1"),
        ([0.0, 1.0, -1.0, 0.5], {"n_items": 2, "clusters": list("xxyy")}, pt.errors.PosteriorError, "of one unit"),
    ],
)
def test_errors(scores, options, error, words):
    with pytest.raises(error, match=words):
        pt.validate(of_differences(np.array(scores)), **options)
