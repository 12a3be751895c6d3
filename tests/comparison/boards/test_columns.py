"""Sums of boards with holes, merged in any way, say what the scores themselves say."""

import numpy as np
import pytest
from made_scores import assert_same, make

import probtruth as pt
from probtruth.comparison.boards.columns import Columns
from probtruth.errors import InputError, PosteriorError

EQUAL = 1e-9  # relative, of sums in another order
N = 300
REST = ("plain", "groups", "clusters", "ties", "equal", "level", "many models", "uneven")
KINDS = ("both", "ties in clusters", "infinite", *REST)


def board(kind: str) -> tuple[np.ndarray, dict[str, list[str]]]:
    """Scores with holes that few patterns make, and the groups and clusters of the items."""
    rng = np.random.default_rng(KINDS.index(kind))
    n_models = 12 if kind == "many models" else 4
    values = 2 * rng.standard_normal(N) + rng.gamma(1.0, size=(n_models, N)) * np.linspace(1, 2, n_models)[:, None]
    if kind.startswith("ties"):
        values = (rng.random((n_models, N)) < 0.03).astype(float)
    if kind == "equal":
        values[3] = values[1]
    if kind == "level":
        values += 1e6
    # items 0 to 99 are of every model, and each model lacks some tens of the others, or some at random
    patterns = rng.random((n_models, 5)) < 0.4
    holes = patterns[:, rng.integers(0, 5, N)]
    holes[:, :100] = False
    if kind == "many models":
        holes = rng.random(holes.shape) < 0.5
    if kind == "equal":
        holes[3] = holes[1]
    values[holes] = np.nan
    if kind == "infinite":
        values[2, [3, 250]] = np.inf
    structure: dict[str, list[str]] = {}
    if kind in ("groups", "both"):
        structure["groups"] = [f"g{item % 3}" for item in range(N)]
    if kind in ("clusters", "both", "ties in clusters"):
        structure["clusters"] = [f"c{item % 30}" for item in range(N)]
    if kind == "uneven":
        structure["clusters"] = [f"c{int(item**0.6)}" for item in range(N)]
    return values, structure


def sums_of(values: np.ndarray, structure: dict[str, list[str]], items: np.ndarray) -> pt.Moments:
    """Those of some items; a model that has none of them is not in the table."""
    names = [f"m{place:02d}" for place in range(len(values))]
    there = np.flatnonzero(~np.isnan(values[:, items]).all(1))
    scores = make(values[np.ix_(there, items)], [names[at] for at in there], higher_is_better=False)
    here = {what: [listed[at] for at in items] for what, listed in structure.items()}
    return pt.Moments.of(scores, **here)


@pytest.mark.parametrize(
    "kind", ["both", "ties in clusters", "infinite", *(pytest.param(kind, marks=pytest.mark.long) for kind in REST)]
)
def test_parts_of_a_board_merged_are_the_whole(kind: str) -> None:
    values, structure = board(kind)
    names = [f"m{place:02d}" for place in range(len(values))]
    whole = pt.compare(make(values, names, higher_is_better=False), engine="exact", **structure)
    rng = np.random.default_rng(KINDS.index(kind))
    place = np.where(np.arange(N) < 60, 3, rng.integers(0, 3, N))  # the last part has no holes
    parts = [sums_of(values, structure, np.flatnonzero(place == at)) for at in (2, 3, 0, 1)]
    merged = pt.compare((parts[0] + parts[1]) + (parts[2] + parts[3]), engine="exact")
    assert_same(whole, merged, but=("wilcoxon_p",))
    for said in ("lacks", "minus"):
        assert [one for one in merged.warnings if said in one] == [one for one in whole.warnings if said in one]


def test_a_part_that_lacks_a_model_is_a_part_with_holes() -> None:
    values, structure = board("plain")
    values[1, :150] = np.nan
    halves = [sums_of(values, structure, np.arange(start, start + 150)) for start in (0, 150)]
    assert halves[0].models == ("m00", "m02", "m03")
    names = [f"m{place:02d}" for place in range(4)]
    whole = pt.compare(make(values, names, higher_is_better=False), engine="exact")
    for merged in (halves[0] + halves[1], halves[1] + halves[0]):
        assert_same(whole, pt.compare(merged, engine="exact"))


def test_a_full_board_is_the_case_of_one_set_of_models() -> None:
    """The same numbers from the set's root as from the sums of each pair."""
    values, _ = board("plain")
    full = np.nan_to_num(values, nan=1.0)
    less = full.copy()
    less[0, 0] = np.nan
    parts = [pt.Moments.of(make(one, higher_is_better=False)) for one in (full, less[:, :1])]
    assert parts[0].columns.values.shape == (4, 5)
    merged = pt.compare(parts[0] + parts[1], engine="exact")
    again = make(np.concatenate([full, less[:, :1]], axis=1), higher_is_better=False)
    assert_same(pt.compare(again, engine="exact"), merged)


def test_sums_are_never_more_numbers_than_scores() -> None:
    values, _ = board("plain")
    columns = Columns.of_items(values, np.zeros(N, int)).merged()
    assert columns.values.size + sum(columns.cubes[at].size for at in columns.sets) < values.size
    more = columns
    for _ in range(30):
        more = (more + columns).merged()
    assert more.values.size + sum(more.cubes[at].size for at in more.sets) < 2 * values.size
    assert more.count.sum() == 31 * N


def test_what_sums_of_boards_cannot_say_is_refused() -> None:
    values, _ = board("many models")
    apart = values[:4].copy()
    apart[:2, :150] = np.nan
    apart[2:, 150:] = np.nan
    with pytest.raises(PosteriorError, match="no chain of shared items"):
        pt.compare(pt.Moments.of(make(apart)))
    wide = np.random.default_rng(0).standard_normal((30, 20))
    holes = np.where(wide > 1, np.nan, wide)
    with pytest.raises(InputError, match="items that some lack in every part"):
        pt.Moments.of(make(wide)) + pt.Moments.of(make(holes))
