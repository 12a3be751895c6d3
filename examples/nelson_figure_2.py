"""Figure 2: two classes of heavy-tailed Coupled Gaussians, matched by their model: likelihoods, posteriors, ROC.

Run: python examples/nelson_figure_2.py [--out FOLDER]
"""

import nelson
import nelson_curves
import numpy as np


def main() -> None:
    world = nelson.model()
    curves = nelson.areas(world)
    far = nelson.posterior(np.array([-1e6, 1e6]), world)
    nelson.show(
        [
            ("area under the actual ROC curve", curves["actual"].area, "(solid; drawn only)"),
            ("area under the predicted ROC curve", curves["predicted"].area, "the same curve"),
            ("posterior of class 1 far to the left", float(far[0, 1]), "returns to the prior, .5"),
            ("posterior of class 1 far to the right", float(far[1, 1]), "returns to the prior, .5"),
        ]
    )
    nelson.save(nelson_curves.plot(world, curves), "nelson_figure_2")


if __name__ == "__main__":
    main()
