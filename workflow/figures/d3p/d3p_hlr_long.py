"""AUC of hierarchical logistic regression on 100 records, for very many iterations."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.curves import mean_line
from pipeline.plots.levels import bands
from pipeline.plots.style import legend_above


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one band for each privacy level; the runs of 100 000 iterations are those of Fig. 5."""
    del published  # the paper does not show it
    middle = (metrics["experiment"] == "d3p_fig5") & (metrics["arm"] == "n100")
    runs = metrics[(metrics["experiment"] == "d3p_hlr_long") | middle]
    figure, axes = bands(runs, "num_steps")
    baseline = metrics[(metrics["experiment"] == "d3p_baseline") & (metrics["arm"] == "sizes")]
    mean_line(axes, baseline[baseline["data.records"] == 100], "without groups")
    steps = sorted(runs["num_steps"].astype(int).unique())
    axes.set_xticks(steps, [f"{count:,}".replace(",", " ") for count in steps])
    axes.minorticks_off()
    axes.set_xlabel("iterations of a run ($N = 100$)")
    legend_above(axes, ncols=3)
    return figure
