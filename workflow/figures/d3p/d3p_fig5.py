"""AUC of hierarchical logistic regression against the number of records: mean and one standard deviation."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpinfer.figures.curves import epsilon_name, mean_bands
from dpinfer.figures.style import COLUMN_WIDTH, legend_above

RECORDS = {"n100": 100, "n200": 200, "private": 500, "exact": 500, "n1000": 1000}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one band for each privacy level, and the baseline."""
    del published  # the paper prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    runs = metrics[metrics["experiment"].isin(["d3p_fig4", "d3p_fig5"]) & metrics["arm"].isin(list(RECORDS))]
    mean_bands(axes, runs.assign(records=runs["arm"].map(RECORDS)), x="records", hue="epsilon", name=epsilon_name)
    baseline = metrics[metrics["experiment"] == "d3p_baseline"]
    axes.plot(baseline["data.records"], baseline["value"], "k--", label="without groups")
    axes.set(xscale="log", xlabel="records $N$", ylabel="test AUC")
    axes.set_xticks([100, 200, 500, 1000], ["100", "200", "500", "1000"])
    axes.minorticks_off()
    legend_above(axes, ncols=3)
    return figure
