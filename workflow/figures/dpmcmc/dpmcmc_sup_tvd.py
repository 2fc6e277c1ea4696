"""Total variation between the logistic distribution and its decomposition against the normal part's variance."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import plain_curve
from pipeline.plots.style import COLUMN_WIDTH


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the exact distance of the fitted mixtures."""
    del published  # the supplement prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.2))
    plain_curve(axes, metrics[metrics["metric"] == "tvd"], "variance", "Gaussian mixture", marker="o")
    axes.set(yscale="log", xlabel="variance $C$ of the normal part", ylabel="total variation distance")
    return figure
