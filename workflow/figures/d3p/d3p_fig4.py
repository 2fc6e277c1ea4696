"""AUC of hierarchical logistic regression on 500 records, by privacy level: one box for ten runs each."""

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpinfer.figures.style import COLUMN_WIDTH, legend_above

EXTRA = {"exact": "none", "clipped": "none,\nclipped"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the boxes, and the baseline that knows nothing of groups as a line."""
    del published  # the paper prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.5))
    runs = metrics[metrics["experiment"] == "d3p_fig4"]
    labels = [EXTRA.get(arm, f"{epsilon:g}") for arm, epsilon in zip(runs["arm"], runs["epsilon"], strict=True)]
    sns.boxplot(data=runs.assign(level=labels), x="level", y="value", ax=axes, color="C0", width=0.6, fliersize=2)
    baseline = metrics[(metrics["experiment"] == "d3p_baseline")]
    axes.axhline(baseline["value"].item(), color="C3", linestyle="--", label="logistic regression without groups")
    axes.set(xlabel=r"$\varepsilon$ (replace one record, $\delta = 1/N$)", ylabel="test AUC")
    legend_above(axes)
    return figure
