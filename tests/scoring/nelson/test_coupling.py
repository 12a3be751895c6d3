import pytest

from probtruth.scoring.nelson import coupled_gaussian

ROUND_OFF = 1e-14
"""Three operations in float64."""


@pytest.mark.parametrize(("kappa", "power"), [(0.5, -2 / 3), (-1 / 3, 1.0), (0.0, 0.0), (1.0, -1.0)])
def test_equation_11(kappa, power):
    """Nelson (2017): m = -2 kappa/(1 + d kappa) at d = 1; kappa = 1/2 gives -2/3, -1/3 gives 1."""
    assert coupled_gaussian.power_from_coupling(kappa) == pytest.approx(power, abs=ROUND_OFF)
    assert coupled_gaussian.coupling_from_power(power) == pytest.approx(kappa, abs=ROUND_OFF)


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_there_and_back(dim, alpha):
    power = coupled_gaussian.power_from_coupling(0.2, dim, alpha)
    assert coupled_gaussian.coupling_from_power(power, dim, alpha) == pytest.approx(0.2, rel=ROUND_OFF)


def test_the_papers_second_equality_is_the_dual_index():
    """m = q - 1 would make q = 1/3; Student's t with 2 degrees of freedom has q = 5/3 = 2 - 1/3."""
    freedom = 2
    assert coupled_gaussian.student_index(-2 / 3) == pytest.approx((freedom + 3) / (freedom + 1), rel=ROUND_OFF)
    assert 2 - coupled_gaussian.student_index(-2 / 3) == pytest.approx(-2 / 3 + 1, rel=ROUND_OFF)


def test_risk_bias_in_both_conventions():
    assert coupled_gaussian.power_from_risk_bias(-2 / 3) == -2 / 3
    assert coupled_gaussian.power_from_risk_bias(2 / 3, sign=-1) == -2 / 3
