"""One degree of coupling under its several names: kappa, the power m of a mean, Tsallis' q, Photrek's risk bias r."""


def power_from_coupling(kappa: float, dim: int = 1, alpha: float = 2.0) -> float:
    """The power of the generalised mean for a coupling.

    Formula: m = -alpha kappa / (1 + d kappa).

    Arguments: `dim` is the dimension d; `alpha` is 2 for Gaussians, 1 for exponentials, others for Levy distributions.

    Source: Nelson (2017), doi:10.3390/e19060286, Equation 11, first equality. (Its second, m = q - 1, makes q the dual
    2 - q of the index under which Student's t is known; see `student_index`.)

    >>> round(power_from_coupling(0.5), 4), round(power_from_coupling(-1 / 3), 4)
    (-0.6667, 1.0)
    """
    return -alpha * kappa / (1 + dim * kappa)


def coupling_from_power(power: float, dim: int = 1, alpha: float = 2.0) -> float:
    """The coupling for a power: the inverse of `power_from_coupling`.

    Formula: kappa = -m / (alpha + d m).

    >>> round(coupling_from_power(-2 / 3), 4)
    0.5
    """
    return -power / (alpha + dim * power)


def student_index(power: float) -> float:
    """Tsallis' index q = 1 - m under which the coupled Gaussian is the q-Gaussian (5/3 for m = -2/3, kappa = 1/2).

    >>> round(student_index(-2 / 3), 4)
    1.6667
    """
    return 1 - power


def power_from_risk_bias(risk_bias: float, sign: int = 1) -> float:
    """The power m of Photrek's risk bias r: m = r in their code, m = -r (`sign=-1`) in texts with r = -m.

    In Nelson, Scannell and Landau (2011), doi:10.3390/e13081518, the letter kappa itself stands for this m.

    >>> power_from_risk_bias(0.5, sign=-1)
    -0.5
    """
    return sign * risk_bias
