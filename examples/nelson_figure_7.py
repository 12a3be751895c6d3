"""Figure 7: the divergence probability, P_model / P_source, as the model's mark projected to a source of 1.

The model is Gaussian (kappa = 0) where the source has kappa = 1/2. The published numbers are met exactly if the x axis
ends 7.8 to 9.1 on either side of the middle; on the infinite axis they are 0.547, 0.614 and 0.890, which is as close as
1,000 simulated points would come. Run: python examples/nelson_figure_7.py [--out FOLDER]
"""

import matplotlib.pyplot as plt
import nelson
import numpy as np

import probtruth as pt

PUBLISHED = {"model probability": ".56", "source probability": ".62", "divergence probability": ".90"}


def main() -> None:
    x, world = nelson.points(), nelson.model(kappa=(0.0, 0.0))
    rows = []
    for words, chosen in (("infinite axis", x), ("axis 1 +- 8.5", x[np.abs(x - 1) < 8.5])):
        risk = nelson.profile(world, chosen, source="truth")
        place = risk.powers.index(0)
        values = [float(table[0, place]) for table in (risk.model, risk.source, risk.divergence)]
        rows += [(f"{name}, {words}", value, PUBLISHED[name]) for name, value in zip(PUBLISHED, values, strict=True)]
    nelson.show(rows)

    figure, axis = plt.subplots(figsize=(6, 5), layout="constrained")
    pt.figures.plot_divergence(risk, ax=axis)
    nelson.save(figure, "nelson_figure_7")


if __name__ == "__main__":
    main()
