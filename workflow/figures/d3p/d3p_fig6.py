"""AUC of hierarchical logistic regression against the number of iterations: mean and one standard deviation."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpinfer.figures.curves import epsilon_name, mean_bands
from dpinfer.figures.style import COLUMN_WIDTH, legend_above

FULL = 100_000


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one band for each privacy level; each point is a run with noise of its own."""
    del published  # the paper prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    longest = metrics[(metrics["experiment"] == "d3p_fig4") & metrics["arm"].isin(["private", "exact"])]
    shorter = metrics[metrics["experiment"] == "d3p_fig6"]
    runs = pd.concat([shorter, longest.assign(num_steps=FULL)])
    mean_bands(axes, runs, x="num_steps", hue="epsilon", name=epsilon_name)
    baseline = metrics[(metrics["experiment"] == "d3p_baseline") & (metrics["data.records"] == 500)]
    axes.axhline(baseline["value"].item(), color="black", linestyle="--", label="without groups")
    axes.set(xscale="log", xlabel="iterations", ylabel="test AUC")
    legend_above(axes, ncols=3)
    return figure
