"""Renyi divergence of one Barker test on a batch of 1000: Theorem 2, its exact worst case, our bound.

The certified bound lies below the worst case of the theorem's assumptions at high orders: it uses that a record
cannot move mean and variance to their extremes at once.
"""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import plain_curve
from pipeline.plots.style import COLUMN_WIDTH

CURVES = {
    "theorem": "Theorem 2",
    "certified": "certified bound",
    "worst_case": "exact, under Theorem 2's assumptions",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the divergences over the orders."""
    del published  # the paper prints the bound as a formula only
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.3))
    for (metric, name), linestyle in zip(CURVES.items(), ("-", "-", ":"), strict=True):
        plain_curve(axes, metrics[metrics["metric"] == metric], "order", name, linestyle=linestyle)
    axes.set(yscale="log", xlabel=r"Rényi order $\alpha$", ylabel="divergence of one test")
    axes.legend(loc="lower right")
    return figure
