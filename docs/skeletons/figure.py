"""Accuracy of probit regression on Abalone against epsilon."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import mean_curves, mean_line
from pipeline.plots.style import COLUMN_WIDTH, legend_above


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the mean over seeds with one standard error."""
    del published  # the paper's own values, from config/published/<paper>/<figure>.csv
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.4))
    mean_curves(axes, metrics[metrics["arm"] == "private"], x="eps_sound", hue="arm")
    mean_line(axes, metrics[metrics["arm"] == "exact"], "without privacy")
    axes.set(xscale="log", xlabel=r"$\varepsilon$", ylabel="test accuracy")
    legend_above(axes)
    return figure
