"""A short form of the calibration in tests/slow/truth_calibration.py, and what its ranks can and cannot see."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro import handlers
from numpyro.infer.util import log_density
from scipy.stats import ks_2samp
from simulation_calibration import THINNED, p_values, simulations, z_values

from probtruth.truth import programs
from probtruth.truth.sampled import ROWS, distinct_items


@pytest.mark.long
def test_ranks_of_the_hierarchical_program_are_even() -> None:
    """Forty simulations, ranks in four bins of ten: gross errors only; the slow form has the power for small ones."""
    ranks, errors = simulations(programs.hierarchical_dawid_skene, 40, warmup=100, thin=2, batch=10, seed=0)
    assert ranks.shape == (40, 8)
    chance = 0.001  # of one p-value; eight are looked at, of a fixed seed
    assert p_values(ranks, bins=4).min() > chance
    assert np.abs(z_values(errors)).max() < 3.5


def test_ranks_of_a_wrong_width_are_not_even() -> None:
    generator = np.random.default_rng(0)
    for spread in (0.5, 2.0):
        true, drawn = generator.normal(size=(200, 1)), spread * generator.normal(size=(200, THINNED))
        ranks = (drawn < true).sum(1, keepdims=True)
        assert p_values(ranks)[0] < 0.001, spread
    even = generator.integers(THINNED + 1, size=(400, 1))
    assert p_values(even)[0] > 0.01


def test_contrasts_have_the_prior_of_independent_logits() -> None:
    """Differences of the logits of a row, drawn in contrasts, against the normals that the docstring names."""
    n_labels, n_annotators, many = 3, 2, 4000
    nothing = {"item": np.zeros(0, int), "cell": np.zeros(0, int), "weight": np.zeros(0), "times": np.zeros(0)}
    nothing |= {"kinds": np.zeros((0, n_labels + 1)), "annotators": np.zeros(n_annotators)}
    nothing |= {"table": np.zeros((0, n_annotators * n_labels))}

    def differences(key: jax.Array) -> jax.Array:
        trace = handlers.trace(handlers.seed(programs.hierarchical_dawid_skene, key)).get_trace(**nothing)
        rows = trace["log_answers"]["value"]
        return rows[:, :, 1:] - rows[:, :, :1]

    found = np.asarray(jax.jit(jax.vmap(differences))(jax.random.split(jax.random.key(0), many)))
    generator = np.random.default_rng(0)
    rows = (n_labels, n_labels)
    logits = programs.DIAGONAL_LOGIT * np.eye(n_labels) + generator.normal(size=(many, 1, *rows))
    spread = np.abs(generator.normal(size=(many, 1, *rows)))
    logits = logits + spread * generator.normal(size=(many, n_annotators, *rows))
    wanted = logits[..., 1:] - logits[..., :1]
    for one, other in zip(found.reshape(many, -1).T, wanted.reshape(many, -1).T, strict=True):
        assert ks_2samp(one, other).pvalue > 1e-4  # twelve of a fixed seed
    for statistic in (lambda x: x[:, 0, 0, 0] * x[:, 0, 0, 1], lambda x: x[:, 0, 1, 0] * x[:, 1, 1, 0]):
        assert ks_2samp(statistic(found), statistic(wanted)).pvalue > 1e-4


def test_a_table_of_the_annotations_gives_the_density_that_their_list_gives() -> None:
    """One is a shortcut of the other, in value and gradient."""
    generator = np.random.default_rng(0)
    n_items, n_annotators, n_labels = 5, 3, 4
    item, annotator = np.divmod(generator.permutation(n_items * n_annotators)[:12], n_annotators)
    order = np.argsort(item)
    item, cell = item[order], annotator[order] * n_labels + generator.integers(n_labels, size=12)
    weight, kinds = generator.integers(1, 3, 12).astype(float), np.eye(n_labels + 1)[[0, 0, 1, 0, 0]]
    n_places = 7
    answers = np.log(generator.dirichlet(np.ones(n_labels), (n_annotators, n_places)))
    places = np.log(generator.dirichlet(np.ones(n_labels * n_places)).reshape(n_labels, n_places))
    full = np.zeros((n_annotators * n_labels, n_items))
    full[cell, item] = weight
    full = np.concatenate([full, kinds.T])

    def likelihood(answers: jax.Array, table: np.ndarray) -> jax.Array:
        joint = programs.log_joint(*map(jnp.asarray, (item, cell, weight, kinds, places)), answers, jnp.asarray(table))
        return jax.nn.logsumexp(joint, axis=1).sum()

    with jax.enable_x64(True):
        both = jax.jit(lambda answers: [jax.value_and_grad(likelihood)(answers, one) for one in (full, full[:, :0])])
        (first, slope), (second, other) = both(jnp.asarray(answers))
    np.testing.assert_allclose(first, second, rtol=1e-12)
    np.testing.assert_allclose(slope, other, rtol=1e-9, atol=1e-12)


def test_items_that_are_alike_count_as_often_as_they_are_there() -> None:
    """The rows that have the annotations and known answer of several items, against all items one by one."""
    table = np.array([[1.0, 0, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]])
    kinds = np.array([[1.0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0]])
    few = distinct_items(table, kinds)
    assert few["table"].shape == (4 + 3, ROWS)
    np.testing.assert_array_equal(few["table"][4:], few["kinds"].T)
    np.testing.assert_array_equal(few["times"], [2, 1, 2] + [0] * (ROWS - 3))  # sorted, cell by cell
    np.testing.assert_array_equal(few["kinds"][:3], [[1, 0, 0], [0, 0, 1], [1, 0, 0]])
    nothing = {"item": jnp.zeros(1, int), "cell": jnp.zeros(1, int), "weight": jnp.ones(1), "annotators": jnp.zeros(2)}
    drawn = {"confusion_gammas": np.array([[[0.8, 0.4], [0.3, 1.1]], [[0.9, 0.2], [0.5, 0.7]]])}
    drawn["marginals"] = np.array([0.3, 0.7])

    def density(**rows: np.ndarray) -> float:
        data = nothing | {name: jnp.asarray(row) for name, row in rows.items()}
        return float(jax.jit(lambda data: log_density(programs.dawid_skene, (), data, drawn)[0])(data))

    with jax.enable_x64(True):
        whole = np.concatenate([table, kinds], axis=1).T
        one_by_one = density(kinds=kinds, table=whole, times=np.ones(5))
        assert density(**few) == pytest.approx(one_by_one, rel=1e-12)
