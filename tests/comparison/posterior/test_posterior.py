"""The three engines: what makes the shown numbers, and that all say the same."""

from collections.abc import Iterator

import numpy as np
import pytest
from made_scores import make

from probtruth.comparison.compare import compare
from probtruth.comparison.posterior import drawn
from probtruth.comparison.posterior.posterior import summary
from probtruth.inference import nuts

ERRORS = 5.0
END = 2.6  # Error of an interval's end, in its widths, over that of a probability of 1/2: of a t of 3 df
COLUMNS = ("low", "high", "p_a_better", "p_equivalent", "p_b_better")


def design(seed: int) -> tuple[np.ndarray, list[int] | None, list[int] | None]:
    """Scores of 2 to 5 models with spreads over two orders of magnitude; groups and clusters in half of the designs."""
    rng = np.random.default_rng(seed)
    n_models, n_groups = int(rng.integers(2, 6)), int(rng.integers(3, 7))
    n = 12 * n_groups
    group = np.repeat(np.arange(n_groups), 12)
    noise = rng.gamma(1.0, size=(n_models, n)) if seed % 3 else rng.normal(size=(n_models, n))
    values = noise * 10.0 ** rng.uniform(-1, 1, (n_models, 1)) + rng.normal(size=n)
    values += rng.normal(0, 0.5, (n_models, n_groups))[:, group]
    return values, group.tolist() if seed % 2 else None, (np.arange(n) // 3).tolist() if seed % 4 > 1 else None


def shown(comparison) -> Iterator[tuple[float, float, float]]:
    """Every probability and interval with the scale of its Monte Carlo error."""
    rows = [*comparison.pairs, *(row for rows in comparison.group_results.values() for row in rows), *comparison.groups]
    for row in rows:
        for name in COLUMNS:
            if row.get(name) is not None:
                yield row[name], (1.0 if name.startswith("p_") else END * (row["high"] - row["low"]))
    width = max(row["high"] - row["low"] for row in comparison.pairs)
    for row in comparison.ranks:
        yield row["p_best"], 1.0
        yield row["expected_rank"], float(len(comparison.ranks))
        yield row["expected_regret"], width
        yield row["low"], END * (row["high"] - row["low"])
        yield row["high"], END * (row["high"] - row["low"])


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 20))])
def test_three_engines_agree(seed):
    values, groups, clusters = design(seed)
    # with groups, "auto" samples what "nuts" does, and its pairs are in closed form: once is enough
    engines = ("exact", "nuts") if groups is not None and seed != 11 else ("exact", "auto", "nuts")
    exact, *others = (compare(make(values), groups, clusters, engine=engine, rope=0.1) for engine in engines)
    for other in others:
        tables = other.diagnostics["tables"]
        assert (tables["pairwise"]["engine"] == "nuts") == (other.settings["engine"] == "nuts")
        assert other.diagnostics["engine"] == tables["pairwise"]["engine"]
        if groups is not None:
            assert tables["groups"]["engine"] == "nuts"
            assert tables["groups"]["end_mcse"] < 0.02
        # 10,000 independent draws make P(best), and so many effective ones what NUTS drew
        error = max(other.diagnostics["max_mcse"] or 0.0, 0.5 * min(other.diagnostics["min_ess"] or 1e4, 1e4) ** -0.5)
        for (one, scale), (two, _) in zip(shown(exact), shown(other), strict=True):
            assert abs(one - two) <= ERRORS * error * scale


@pytest.mark.long
def test_draws_of_own_means_have_the_freedom_of_the_program():
    """What a few items of one group share hardly matters to differences, and makes the models' own means uncertain."""
    rng, groups = np.random.default_rng(1), np.repeat([0, 1], [3, 200])
    own, shared = np.where(groups, 1.0, 0.05), np.where(groups, 0.1, 50.0)
    values = own * rng.normal(size=(2, 203)) + shared * rng.normal(size=203)
    exact, drawn = (compare(make(values), groups, engine=engine).ranks for engine in ("exact", "nuts"))
    for one, two in zip(exact, drawn, strict=True):
        assert two["high"] - two["low"] == pytest.approx(one["high"] - one["low"], rel=0.2)


@pytest.mark.long
@pytest.mark.parametrize("groups", [None, [0, 1, 2] * 20])
def test_shifted_draws_shift_every_shown_number(groups, monkeypatch):
    values = np.random.default_rng(3).normal(size=(3, 60)) * 0.5 + np.array([[0.0], [0.05], [0.1]])
    plain, sample = compare(make(values), groups, engine="nuts", rope=0.1), drawn.sample

    def moved(run):
        sites = {name: site + 0.5 * site.std((0, 1)) for name, site in run.sites.items()}
        return nuts.Draws(sites, run.stats)

    def shifted(*arguments, **options):
        enough = options.pop("enough", None)
        if enough is not None:  # what checks the draws keeps what they say
            options["enough"] = lambda run: enough(moved(run))
        return moved(sample(*arguments, **options))

    monkeypatch.setattr(drawn, "sample", shifted)
    other = compare(make(values), groups, engine="nuts", rope=0.1)
    for (one, _), (two, _) in zip(shown(plain), shown(other), strict=True):
        assert one != two  # what does not come from the draws would be the same number


def test_samplers_that_differ_are_named_with_their_tables():
    figures = dict.fromkeys(("max_rhat", "min_ess", "divergences", "max_mcse", "end_mcse"), 1)
    long = {"engine": "nuts", "sampler": "2,500 draws", **figures}
    short = {"engine": "nuts", "sampler": "400 draws", **figures}
    both = summary({"pairwise": long, "groups": short})
    assert both["sampler"] == "2,500 draws; 400 draws"
    assert summary({"pairwise": {"engine": "exact"}, "groups": short})["sampler"] == "400 draws"
