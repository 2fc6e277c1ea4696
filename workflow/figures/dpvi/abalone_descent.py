"""Accuracy on Abalone against epsilon: private gradient descent and its non-private limit."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import mean_curves, mean_line
from pipeline.plots.style import COLUMN_WIDTH, PUBLISHED, legend_above


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the mean over seeds with one standard error."""
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.4))
    private = metrics[metrics["arm"] == "private"].assign(arm="private gradient descent")
    mean_curves(axes, private, x="eps_sound", hue="arm")
    mean_line(axes, metrics[metrics["arm"] == "exact"], "without privacy")
    if published is not None:
        axes.axhline(published["accuracy"].item(), color=PUBLISHED, linestyle=":", label="paper, without privacy")
    axes.set(
        xscale="log",
        xlabel=r"$\varepsilon$ (add/remove one record, $\delta = 10^{-5}$)",
        ylabel="test accuracy",
    )
    legend_above(axes)
    return figure
