"""Accuracy on Abalone against the sampling rate, with the clip of the code and with one that does not change."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import mean_curves
from pipeline.plots.style import COLUMN_WIDTH, legend_above

NOISE = 12.0
CURVES = {"q": "clip 5 on scaled gradients (code)", "fixed": "clip 0.27 on a record's gradient"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each clip, at one noise multiplier."""
    del published  # the paper does not show this variant
    runs = metrics[(metrics["experiment"] == "dpvi_fig2_abalone") & (metrics["noise_multiplier"] == NOISE)]
    parts = runs["arm"].str.extract(r"(?P<kind>[a-z]+)(?P<rate>\d+)")
    runs = runs.assign(rate=parts["rate"].astype(float) / 1e4, clip=parts["kind"].map(CURVES))
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.4))
    mean_curves(axes, runs, x="rate", hue="clip")
    axes.set(xlabel=rf"sampling rate $q$ (2000 steps, noise of {NOISE:g} clips)", ylabel="test accuracy")
    legend_above(axes)
    return figure
