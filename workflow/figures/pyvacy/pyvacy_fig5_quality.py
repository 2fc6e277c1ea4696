"""Quality of generated digits against epsilon, in the eyes of a classifier of real ones."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import log_epsilon
from pipeline.plots.style import COLUMN_WIDTH

PANELS = {
    "frechet": "Fréchet distance\nof features",
    "classes": "classes with 1 %\nof the images",
    "label_entropy": "entropy of classes\n(nats)",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw a panel for each measure; the paper gives none."""
    del published
    figure, axes = plt.subplots(1, len(PANELS), figsize=(2 * COLUMN_WIDTH, 2.0))
    for panel, (metric, name) in zip(axes, PANELS.items(), strict=True):
        values = metrics[metrics["metric"] == metric].groupby("epsilon")["value"].mean()
        finite = values[np.isfinite(values.index)]
        panel.plot(finite.index, finite, marker="o", label="private")
        if np.inf in values.index:
            panel.axhline(values[np.inf], color="0.4", linestyle="--", label="not private")
        log_epsilon(panel)
        panel.set(xlabel=r"$\varepsilon$", ylabel=name, ylim=(0, 1.08 * values.max()))
    axes[0].legend()
    return figure
