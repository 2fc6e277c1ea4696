"""Accuracy on Abalone against epsilon for several sampling rates, for as many steps and for as many passes."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.dpvi import ABALONE_RATES, by_setting
from pipeline.plots.style import COLUMN_WIDTH, legend_above

PANELS = {"dpvi_fig2_abalone": "2000 steps", "dpvi_fig2_abalone_long": "2000 / q steps, as in the code"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw both readings of the number of steps one above the other."""
    exact = metrics[(metrics["experiment"] == "dpvi_fig1_abalone") & (metrics["arm"] == "exact")]
    figure, panels = plt.subplots(2, 1, figsize=(COLUMN_WIDTH, 4.6), sharey=True)
    for axes, (experiment, title) in zip(panels, PANELS.items(), strict=True):
        chosen = metrics[metrics["experiment"] == experiment]
        by_setting(axes, chosen, published, "arm", ABALONE_RATES, exact)
        axes.text(0.98, 0.04, title, transform=axes.transAxes, ha="right")
    legend_above(panels[0], ncols=3)
    return figure
