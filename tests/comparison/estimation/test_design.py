import numpy as np
import pytest
from made_scores import make

from probtruth.comparison.estimation.design import design
from probtruth.errors import InputError
from probtruth.types import Partition

SCORES = make(np.arange(8.0).reshape(2, 4))


def test_no_groups_is_one():
    plan = design(SCORES, None, None, None)
    assert not plan.grouped
    assert plan.weights.tolist() == [1.0]
    assert plan.n_clusters is None


@pytest.mark.parametrize(
    "groups", [["y", "x", "y", "y"], {"0": "y", "1": "x", "2": "y", "3": "y"}, {0: "y", 1: "x", 2: "y", 3: "y", 9: "z"}]
)
def test_groups_by_position_or_by_name(groups):
    plan = design(SCORES, groups, None, None)
    assert plan.group_names == ("x", "y")
    assert plan.of_item().tolist() == [1, 0, 1, 1]
    assert plan.weights.tolist() == [0.25, 0.75]


def test_groups_and_clusters_that_the_scores_carry():
    groups = Partition(np.array([0, 0, 1, 1]), ("p", "q"))
    clusters = Partition(np.array([0, 1, 2, 2]), ("x", "y", "z"))
    scores = make(SCORES.values, groups=groups, clusters=clusters)
    plan = design(scores, None, None, None)
    assert plan.group_names == ("p", "q")
    assert plan.unit.tolist() == [0, 1, 2, 2]


def test_weights_by_name():
    plan = design(SCORES, ["y", "x", "y", "y"], None, {"y": 0.75, "x": 0.25})
    assert dict(zip(plan.group_names, plan.weights.tolist(), strict=True)) == {"x": 0.25, "y": 0.75}


def test_texts_that_look_like_nothing_are_names_of_groups():
    assert design(SCORES, ["nan", "None", "nan", "None"], None, None).group_names == ("None", "nan")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": ["a"]}, "got 1 groups, expected 4"),
        ({"groups": {"0": "a"}}, "no group for item '1', '2', '3'"),
        ({"groups": ["a", None, "a", "b"]}, "got a blank, expected a group for every item"),
        ({"groups": ["a", " ", "a", "b"]}, "got a blank"),
        ({"groups": ["a", float("nan"), "a", "b"]}, "got a blank"),
        ({"clusters": ["a"]}, "got 1 clusters, expected 4"),
        ({"groups": list("aabb"), "clusters": list("xyyz")}, "clusters inside groups"),
        ({"weights": [1.0]}, "weights without groups"),
        ({"groups": list("aabb"), "weights": {"a": 0.5, "b": 0.6}}, "non-negative weights that sum to 1"),
        ({"groups": list("aabb"), "weights": {"a": 1.5, "b": -0.5}}, "non-negative weights that sum to 1"),
        ({"groups": list("aabb"), "weights": [0.5, 0.5]}, "expected weights by name"),
        ({"groups": list("aabb"), "weights": {"a": 1.0}}, "no weight for group 'b'"),
        ({"groups": list("aabb"), "weights": {"a": 0.5, "c": 0.5}}, "group 'c'"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(InputError) as caught:
        design(SCORES, *(arguments.get(name) for name in ("groups", "clusters", "weights")))
    assert message in str(caught.value)
