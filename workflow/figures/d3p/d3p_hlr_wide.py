"""AUC of hierarchical logistic regression on data with wide effects, by privacy level, as boxes of ten runs."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.levels import boxes


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the boxes, and the baseline on the same data as a line."""
    del published  # the paper does not show this variant
    baseline = metrics[(metrics["experiment"] == "d3p_baseline") & (metrics["arm"] == "wide")]
    runs = metrics[metrics["experiment"] == "d3p_hlr_wide"]
    return boxes(runs, baseline["value"].item(), "replace one record")
