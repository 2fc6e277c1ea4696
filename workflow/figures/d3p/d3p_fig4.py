"""AUC of hierarchical logistic regression on 500 records, by privacy level: one box for ten runs each."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.levels import boxes


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the boxes, and the baseline that knows nothing of groups as a line."""
    del published  # the paper prints no numbers
    baseline = metrics[(metrics["experiment"] == "d3p_baseline") & (metrics["arm"] == "sizes")]
    baseline = baseline[baseline["data.records"] == 500]
    runs = metrics[metrics["experiment"] == "d3p_fig4"]
    return boxes(runs, baseline["value"].item(), "replace one record")
