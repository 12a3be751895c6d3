"""The two-class world of Nelson (2017), doi:10.3390/e19060286, shared by the scripts that reproduce its figures.

Source: two Student-t distributions (coupling kappa = 1/2, scale 1) at 0 and 2, equal priors. Model: the same with
errors in its mean, variance or tail. Probabilities are kept within q_lim = 0.01, as in the paper.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

import probtruth as pt
from probtruth.scoring.confusion.curves import Curve
from probtruth.scoring.nelson.profile import RiskProfile

Q_LIM = 0.01
COLOURS = {"0": "tab:green", "1": "tab:orange"}
SOURCE = {"loc": (0.0, 2.0), "variance": (1.0, 1.0), "kappa": (0.5, 0.5)}


def model(**errors: tuple[float, float]) -> dict[str, tuple[float, float]]:
    """The source's parameters, (class 0, class 1), with some of them replaced."""
    return SOURCE | errors


def likelihoods(x: np.ndarray, world: dict[str, tuple[float, float]]) -> np.ndarray:
    """Log-density of each point under each class."""
    loc, variance, kappa = (np.array(world[name]) for name in ("loc", "variance", "kappa"))
    with jax.enable_x64(True):
        return np.asarray(pt.nelson.coupled_gaussian.log_density(x[:, None], loc, np.sqrt(variance), kappa))


def posterior(x: np.ndarray, world: dict[str, tuple[float, float]]) -> np.ndarray:
    """Probability of each class at each point, with equal priors."""
    with jax.enable_x64(True):
        return np.exp(np.asarray(pt.nelson.coupled_gaussian.log_posterior(likelihoods(x, world), np.array([0.5, 0.5]))))


def points(world: dict[str, tuple[float, float]] = SOURCE, number: int = 20_000) -> np.ndarray:
    """Equally likely points of both classes: quantiles of Student's t with 2 degrees of freedom (kappa = 1/2)."""
    u = (np.arange(number) + 0.5) / number
    t = (2 * u - 1) / np.sqrt(2 * u * (1 - u))
    classes = zip(world["loc"], world["variance"], strict=True)
    return np.concatenate([loc + t * variance**0.5 for loc, variance in classes])


def profile(world: dict[str, tuple[float, float]], x: np.ndarray | None = None, source: str = "bins") -> RiskProfile:
    """The risk profile of a model of this world; the source probability from 100 bins, or from the truth itself."""
    x = points() if x is None else x
    predictions = pt.Predictions.from_probs({"model": posterior(x, world)})
    truth = pt.Truth.from_probs(posterior(x, SOURCE))
    return pt.nelson.risk_profile(predictions, truth, Q_LIM, source=source, smoothing=100 if source == "bins" else None)


def areas(world: dict[str, tuple[float, float]]) -> dict[str, Curve]:
    """ROC curves: actual (the model classifies, the source decides) and predicted (the model does both)."""
    curves = {}
    for name, (x, judge) in {"actual": (points(), SOURCE), "predicted": (points(world), world)}.items():
        predictions = pt.Predictions.from_probs({"model": posterior(x, world)})
        curves[name] = pt.confusion.roc_curves(predictions, pt.Truth.from_probs(posterior(x, judge))).of("model")
    return curves


def show(rows: Sequence[tuple[str, float | str, str]]) -> None:
    """Prints what was reached beside what was published."""
    print(f"{'quantity':50}{'reached':>10}   published")
    for what, reached, published in rows:
        print(f"{what:50}{reached if isinstance(reached, str) else format(reached, '.3f'):>10}   {published}")


def save(figure: object, name: str) -> None:
    """Writes the picture if the command line says `--out FOLDER`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the picture")
    out = parser.parse_args().out
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        figure.savefig(out / f"{name}.svg")
        print(f"wrote {out / name}.svg")


def plot_model_against_source(axis: object, risk: RiskProfile, title: str) -> None:
    """Bubbles of the bins, the three marks of each class and of both, and the identity line."""
    pt.figures.plot_nelson(risk, ax=axis).set_title(title)
