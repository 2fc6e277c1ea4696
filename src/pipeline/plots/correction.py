"""Figures of the correction of logistic noise."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.plots.curves import plain_curve
from pipeline.plots.style import COLUMN_WIDTH, legend_above

NAMES = {"mixture": "Gaussian mixture", "ridge": "ridge regression"}
SHOWN = 2.0
"""The variance whose distribution functions are shown."""


def log_densities(metrics: pd.DataFrame, arm: str) -> Figure:
    """Log density of a correction, one panel for each variance of the normal part."""
    own = metrics[(metrics["arm"] == arm) & (metrics["metric"] == "log_density")]
    finite = own[np.isfinite(own["value"])]
    variances = sorted(own["variance"].unique())
    figure, panels = plt.subplots(len(variances), 1, figsize=(COLUMN_WIDTH, 1.05 * len(variances)), sharex=True)
    for axes, variance in zip(panels, variances, strict=True):
        # What has no density at all leaves a gap.
        rows = finite[finite["variance"] == variance]
        axes.plot(rows["x"], rows["value"], ".", markersize=1.5)
        axes.set_title(f"$C = {variance:g}$", loc="left", y=0.75)
    panels[-1].set_xlabel("$x$")
    figure.supylabel(r"log density of $V_{cor}$", fontsize=8)
    return figure


def sampled(metrics: pd.DataFrame, metric: str) -> tuple[Figure, Axes]:
    """A curve along x of the samples at the largest variance, by both corrections."""
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.4))
    own = metrics[(metrics["metric"] == metric) & (metrics["variance"] == SHOWN)]
    for (arm, name), linestyle in zip(NAMES.items(), ("-", "--"), strict=True):
        plain_curve(axes, own[own["arm"] == arm], "x", name, linestyle=linestyle)
    if metric == "cdf":
        x = np.sort(own["x"].unique())
        axes.plot(x, 1 / (1 + np.exp(-x)), ":", color="black", label="logistic")
    axes.set(xlabel="$x$", xlim=(-7.5, 7.5))
    legend_above(axes, ncols=2)
    return figure, axes
