"""AUC of hierarchical logistic regression against the number of records: mean and one standard deviation."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.curves import plain_curve
from pipeline.plots.levels import bands
from pipeline.plots.style import legend_above

SIZES = (100, 200, 500, 1000)


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one band for each privacy level, and the baseline; the runs on 500 records are those of Fig. 4."""
    del published  # the paper prints no numbers
    middle = metrics[(metrics["experiment"] == "d3p_fig4") & metrics["arm"].isin(["private", "exact"])]
    others = metrics[metrics["experiment"] == "d3p_fig5"]
    figure, axes = bands(pd.concat([others, middle.assign(**{"data.records": 500})]), "data.records")
    baseline = metrics[(metrics["experiment"] == "d3p_baseline") & (metrics["arm"] == "sizes")]
    plain_curve(axes, baseline, "data.records", "without groups", color="0.4", linestyle="--", linewidth=1)
    axes.set_xlabel(r"records $N$ ($\delta = 1/N$)")
    axes.set_xticks(SIZES, [str(size) for size in SIZES])
    axes.minorticks_off()
    legend_above(axes, ncols=3)
    return figure
