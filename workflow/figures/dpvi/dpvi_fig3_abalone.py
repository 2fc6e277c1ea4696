"""Accuracy on Abalone against epsilon for several clipping bounds, beside the paper's stored values."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.dpvi import by_setting, clips
from pipeline.plots.style import COLUMN_WIDTH, legend_above

EXPERIMENT = "dpvi_fig3_abalone"


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each bound."""
    exact = metrics[(metrics["experiment"] == "dpvi_fig1_abalone") & (metrics["arm"] == "exact")]
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.9))
    runs = metrics[metrics["experiment"] == EXPERIMENT]
    by_setting(axes, runs, published, "clip", clips(metrics, EXPERIMENT), exact)
    legend_above(axes, ncols=3)
    return figure
