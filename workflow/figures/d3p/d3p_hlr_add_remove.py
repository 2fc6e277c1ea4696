"""AUC of hierarchical logistic regression with noise for adding or removing a record, as boxes of ten runs."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.levels import boxes


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the boxes beside those without privacy of Fig. 4, and the baseline as a line."""
    del published  # the paper does not show this variant
    baseline = metrics[(metrics["experiment"] == "d3p_baseline") & (metrics["arm"] == "sizes")]
    baseline = baseline[baseline["data.records"] == 500]
    exact = (metrics["experiment"] == "d3p_fig4") & metrics["arm"].isin(["exact", "clipped"])
    runs = metrics[(metrics["experiment"] == "d3p_hlr_add_remove") | exact]
    return boxes(runs, baseline["value"].item(), "add or remove one record")
