"""The panels of Figures 2 and 4: likelihoods, posteriors and ROC curves, source solid and model dashed."""

import matplotlib.pyplot as plt
import nelson
import numpy as np

from probtruth.scoring.confusion.curves import Curve


def plot(world: dict[str, tuple[float, float]], curves: dict[str, Curve]) -> plt.Figure:
    """Likelihoods (b), posteriors (c) and ROC curves (d)."""
    x = np.linspace(-8, 10, 400)
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for label, colour in nelson.COLOURS.items():
        for name, style, parameters in (("source", "-", nelson.SOURCE), ("model", "--", world)):
            options = {"color": colour, "linestyle": style, "label": f"{name}, class {label}"}
            axes[0].plot(x, np.exp(nelson.likelihoods(x, parameters))[:, int(label)], **options)
            axes[1].plot(x, nelson.posterior(x, parameters)[:, int(label)], **options)
    for name, style in (("actual", "-"), ("predicted", "--")):
        axes[2].plot(
            curves[name].x, curves[name].y, style, color="black", label=f"{name}, area {curves[name].area:.3f}"
        )
    axes[0].set(title="likelihoods", xlabel="x", ylabel="density")
    axes[1].set(title="posteriors", xlabel="x", ylabel="probability", ylim=(0, 1))
    axes[2].set(title="ROC", xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
    axes[0].legend(loc="upper left", fontsize="x-small")
    axes[2].legend(loc="lower right")
    return figure
