"""Draws of the tempered chain without privacy."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.chains import scatter


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw every tenth draw of the first chain after its burn-in."""
    figure, axes = scatter(metrics, "exact", published)
    axes.set_title("no privacy")
    return figure
