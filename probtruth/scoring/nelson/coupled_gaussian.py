"""Coupled Gaussians: the Gaussian (kappa 0), heavier tails (kappa > 0, Student's t) and compact support (kappa < 0).

The density in d dimensions is (1 + kappa r^2)_+^(-(1/kappa + d)/2) / Z with r^2 = (x - loc)' scale^-1 (x - loc), for
kappa > -1/d. kappa is one over Student's degrees of freedom. Pure JAX: jit, vmap and grad work in every argument, also
through kappa = 0. Source: Nelson (2017), doi:10.3390/e19060286, Equation 14.

One degree of coupling under its several names: kappa, the power m of a mean, Tsallis' q, Photrek's risk bias r.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import gammaln
from jaxtyping import Float, Real

from probtruth.kernels.power_mean import log1p_ratio
from probtruth.kernels.simplex import of_one_type

Floats = Float[Array, "..."]

Number = int | float | np.number | Real[Array | np.ndarray, "..."]
Points = Real[Array | np.ndarray, "*batch dim"]
Vector = Real[Array | np.ndarray, " dim"]
Matrix = Real[Array | np.ndarray, "dim dim"]

STIRLING = 10.0  # From this argument on, ratios of gamma functions use Stirling's series (error below 1e-14)


@jax.jit
def log_density(x: Number, loc: Number = 0.0, scale: Number = 1.0, kappa: Number = 0.0) -> Floats:
    """Log-density in one dimension; the arguments broadcast.

    Arguments: `scale` is the square root of the paper's Sigma, in the units of x; `kappa` is above -1.

    Returns: nats per unit of x; -inf outside the support of a negative kappa.

    >>> round(float(log_density(0.0, kappa=1.0)), 4)  # Cauchy: -log(pi)
    -1.1447
    """
    x, loc, scale, kappa = of_one_type(x, loc, scale, kappa)
    relative = (x - loc) / scale
    return _log_density(relative**2, jnp.log(scale), kappa, 1)


@jax.jit
def multivariate_log_density(x: Points, loc: Vector, scale: Matrix, kappa: Number = 0.0) -> Float[Array, "*batch"]:
    """Log-density in several dimensions (the last axis of x).

    Arguments: `scale` is the positive definite matrix Sigma; `kappa` is above -1/d.

    Returns: nats per unit of volume; -inf outside the support of a negative kappa.

    >>> import numpy as np
    >>> round(float(multivariate_log_density(np.zeros(2), np.zeros(2), np.eye(2))), 4)  # -log(2 pi)
    -1.8379
    """
    x, loc, scale = of_one_type(x, loc, scale)
    root = jnp.linalg.cholesky(scale)
    dim = loc.shape[-1]
    centred = (x - loc).reshape(-1, dim)
    scaled = jax.scipy.linalg.solve_triangular(root, centred.T, lower=True)
    squares = jnp.sum(scaled**2, 0)
    log_scales = jnp.log(jnp.diagonal(root))
    log_volume = jnp.sum(log_scales)
    coupling = jnp.asarray(kappa, x.dtype)
    return _log_density(squares.reshape(x.shape[:-1]), log_volume, coupling, dim)


@partial(jax.jit, static_argnames="dim")
def log_normalizer(kappa: Number, dim: int = 1) -> Floats:
    """Log of Z for a scale matrix of determinant 1.

    Formula: kappa > 0: (pi/kappa)^(d/2) Gamma(1/(2 kappa)) / Gamma(1/(2 kappa) + d/2); kappa = 0: (2 pi)^(d/2);
    kappa < 0: (pi/|kappa|)^(d/2) Gamma(a + 1) / Gamma(a + 1 + d/2) with a = -(1/kappa + d)/2.

    >>> round(float(log_normalizer(1.0)), 4)  # log(pi)
    1.1447
    """
    (k,) = of_one_type(kappa)
    half = dim / 2
    heavy = k >= 0
    tail = jnp.where(heavy, k, 0.0)
    compact = jnp.where(heavy, 0.0, -k)
    of_compact = compact / (0.5 + compact * (1 - half))
    inverse = jnp.where(heavy, 2 * tail, of_compact)  # one over the argument of Gamma
    shrink = 2 * compact * (1 - half)
    log_unit = jnp.log(2 * jnp.pi) - jnp.log1p(shrink)
    return half * log_unit - _gamma_excess(inverse, half)


@partial(jax.jit, static_argnames="shape")
def sample(key: Array, shape: tuple[int, ...], loc: Number = 0.0, scale: Number = 1.0, kappa: Number = 0.0) -> Floats:
    """Independent draws in one dimension; `loc`, `scale` and `kappa` broadcast against the shape.

    >>> import jax
    >>> sample(jax.random.key(0), (3,), kappa=0.5).shape
    (3,)
    """
    loc, scale, kappa = of_one_type(loc, scale, kappa)
    normal_key, gamma_key = jax.random.split(key)
    normal = jax.random.normal(normal_key, shape, loc.dtype)
    # divided by sqrt(2 |kappa| (G + [kappa < 0] normal^2/2)), with G from a gamma distribution
    gaussian = kappa == 0
    compact = kappa < 0
    size = jnp.where(gaussian, 1.0, jnp.abs(kappa))
    half_if_compact = jnp.where(compact, 0.5, 0.0)
    order = jnp.broadcast_to(0.5 / size + half_if_compact, shape)
    gamma = jax.random.gamma(gamma_key, order, dtype=loc.dtype)
    of_normal = jnp.where(compact, normal**2 / 2, 0.0)
    total = gamma + of_normal
    divisor = jnp.sqrt(2 * size * total)
    stretch = jnp.where(gaussian, 1.0, 1 / divisor)
    return loc + scale * normal * stretch


@jax.jit
def log_posterior(
    log_densities: Real[Array | np.ndarray, "*batch label"], prior: Real[Array | np.ndarray, " label"]
) -> Float[Array, "*batch label"]:
    """Log-probability of each class by Bayes' rule: log f_k + log pi_k, normalised over the classes.

    Returns: NaN if every class has density 0, which happens with compact supports: nothing is known there.

    >>> import jax.numpy as jnp
    >>> logs = log_density(jnp.array([1.0])[:, None], loc=jnp.array([0.0, 2.0]), kappa=0.5)
    >>> jnp.exp(log_posterior(logs, jnp.array([0.5, 0.5]))).round(4).tolist()
    [[0.5, 0.5]]
    """
    logs, prior = of_one_type(log_densities, prior)
    return jax.nn.log_softmax(logs + jnp.log(prior))


def _log_density(squares: Array, log_volume: Array, kappa: Array, dim: int) -> Array:
    # -(1/kappa + d)/2 log(1 + kappa r^2), written so that kappa = 0 is not a special case
    product = kappa * squares
    inside = product > -1
    ratio = log1p_ratio(jnp.where(inside, product, 0.0))
    kernel = -0.5 * (1 + dim * kappa) * squares * ratio
    log_kernel = jnp.where(inside, kernel, -jnp.inf)
    value: Array = log_kernel - log_normalizer(kappa, dim) - log_volume
    return value


def _gamma_excess(w: Floats, a: float) -> Floats:
    """log Gamma(1/w + a) - log Gamma(1/w) + a log w, by Stirling's series near w = 0."""
    small = w < 1 / STIRLING
    near_0 = jnp.where(small, w, 0.0)
    step = a * near_0
    shift = a * (log1p_ratio(step) - 1)
    power = (a - 0.5) * jnp.log1p(step)
    above = _stirling(near_0 / (1 + step))
    series = shift + power + above - _stirling(near_0)
    z = 1 / jnp.where(small, 1.0, w)
    log_ratio = gammaln(z + a) - gammaln(z)
    direct = log_ratio - a * jnp.log(z)
    return jnp.where(small, series, direct)


def _stirling(v: Array) -> Array:
    """What Stirling's series adds to the leading terms of log Gamma(1/v)."""
    return v / 12 - v**3 / 360 + v**5 / 1260 - v**7 / 1680


def power_from_coupling(kappa: float, dim: int = 1, alpha: float = 2.0) -> float:
    """The power of the generalised mean for a coupling.

    Formula: m = -alpha kappa / (1 + d kappa).

    Arguments:
        kappa: the coupling, 0 for Gaussians.
        dim: the dimension d.
        alpha: 2 for Gaussians, 1 for exponentials, others for Levy distributions.

    Source: Nelson (2017), doi:10.3390/e19060286, Equation 11, first equality. (Its second, m = q - 1, makes q the dual
    2 - q of the index under which Student's t is known; see `student_index`. Nelson, Scannell and Landau (2011),
    doi:10.3390/e13081518, write kappa for this m; Photrek's risk bias r is m in their code and -m in some texts.)

    >>> round(power_from_coupling(0.5), 4), round(power_from_coupling(-1 / 3), 4)
    (-0.6667, 1.0)
    """
    return -alpha * kappa / (1 + dim * kappa)


def coupling_from_power(power: float, dim: int = 1, alpha: float = 2.0) -> float:
    """The coupling for a power m, the inverse of `power_from_coupling`: kappa = -m / (alpha + d m).

    Arguments:
        power: the power of the mean.
        dim, alpha: as in `power_from_coupling`.

    >>> round(coupling_from_power(-2 / 3), 4)
    0.5
    """
    return -power / (alpha + dim * power)


def student_index(power: float) -> float:
    """Tsallis' index q = 1 - m under which the coupled Gaussian is the q-Gaussian (5/3 for m = -2/3, kappa = 1/2).

    Arguments:
        power: the power of the mean.

    >>> round(student_index(-2 / 3), 4)
    1.6667
    """
    return 1 - power
