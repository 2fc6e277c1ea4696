"""Accuracy on Adult against epsilon for several sampling rates, beside the paper's stored values."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpinfer.figures.dpvi import ADULT_RATES, by_setting
from dpinfer.figures.style import COLUMN_WIDTH, legend_above


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each rate."""
    exact = metrics[(metrics["experiment"] == "dpvi_fig1_adult") & (metrics["arm"] == "exact")]
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.9))
    by_setting(axes, metrics[metrics["experiment"] == "dpvi_fig2_adult"], published, "arm", ADULT_RATES, exact)
    legend_above(axes, ncols=3)
    return figure
