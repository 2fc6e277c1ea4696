"""Draws of the tempered chain with privacy."""

import pandas as pd
from matplotlib.figure import Figure

from dpinfer.figures.chains import scatter


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw every tenth draw of the first chain after its burn-in."""
    figure, axes = scatter(metrics, "private", published)
    cost = metrics[metrics["arm"] == "private"].iloc[0]
    axes.set_title(
        rf"$\varepsilon$ = {cost['eps_paper']:.2f} as in the paper, {cost['eps_sound']:.3f} by PLD "
        rf"($\delta = 2\times 10^{{-6}}$)"
    )
    return figure
