"""Draws of the tempered chain with privacy."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.chains import scatter


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw every tenth draw of the first chain after its burn-in."""
    figure, axes = scatter(metrics, "private", published)
    cost = metrics[metrics["arm"] == "private"].iloc[0]
    paper, sound = f"{cost['eps_paper']:.2f}", f"{cost['eps_sound']:.2g}"
    axes.set_title(rf"$\varepsilon$ = {paper} (paper), {sound} (PLD); $\delta = 2\times 10^{{-6}}$")
    return figure
