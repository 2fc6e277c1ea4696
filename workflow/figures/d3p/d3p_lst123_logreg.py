"""AUC of the simple logistic regression of the listings, by privacy level: one box for ten runs each."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.levels import boxes


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the boxes, and the mode of the same model without privacy as a line."""
    del published  # the paper prints no numbers
    scores = metrics[metrics["metric"] == "auc"]
    baseline = scores[(scores["experiment"] == "d3p_baseline") & (scores["arm"] == "sizes")]
    baseline = baseline[baseline["data.records"] == 500]
    return boxes(
        scores[scores["experiment"] == "d3p_lst123_logreg"], baseline["value"].item(), "replace one record"
    )
