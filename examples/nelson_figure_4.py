"""Figure 4: the model puts class 1 at 1 instead of 2: under-confident, and the predicted ROC curve falls short.

Run: python examples/nelson_figure_4.py [--out FOLDER]
"""

import nelson
import nelson_curves
import numpy as np


def main() -> None:
    world = nelson.model(loc=(0.0, 1.0))
    curves, matched = nelson.areas(world), nelson.areas(nelson.model())
    x = nelson.points()
    truth = nelson.posterior(x, nelson.SOURCE)
    right = [
        truth[np.arange(len(x)), nelson.posterior(x, parameters).argmax(1)].mean()
        for parameters in (world, nelson.SOURCE)
    ]
    nelson.show(
        [
            ("area under the actual ROC curve", curves["actual"].area, f"slightly below {matched['actual'].area:.3f}"),
            ("area under the predicted ROC curve", curves["predicted"].area, "clearly below the actual one"),
            ("classified rightly", right[0], f"slightly below {right[1]:.3f}"),
        ]
    )
    nelson.save(nelson_curves.plot(world, curves), "nelson_figure_4")


if __name__ == "__main__":
    main()
