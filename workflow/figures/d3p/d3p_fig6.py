"""AUC of hierarchical logistic regression against the number of iterations: mean and one standard deviation."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.curves import mean_line
from pipeline.plots.levels import bands
from pipeline.plots.style import legend_above


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one band for each privacy level; each point is a run with noise of its own, the last that of Fig. 4."""
    del published  # the paper prints no numbers
    chosen = metrics["experiment"].isin(["d3p_fig4", "d3p_fig6"]) & metrics["arm"].isin(["private", "exact"])
    figure, axes = bands(metrics[chosen], "num_steps")
    baseline = metrics[(metrics["experiment"] == "d3p_baseline") & (metrics["arm"] == "sizes")]
    mean_line(axes, baseline[baseline["data.records"] == 500], "without groups")
    axes.set_xlabel("iterations of a run")
    legend_above(axes, ncols=3)
    return figure
