"""Natural parameters of the posterior along the rounds of a typical run with five clients."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.rounds import at_end, band
from pipeline.plots.style import COLUMN_WIDTH, legend_above

NAMES = {
    "natural_mean_0": r"$\mu_0 / v_0$",
    "natural_mean_1": r"$\mu_1 / v_1$",
    "precision_0": r"$1 / v_0$",
    "precision_1": r"$1 / v_1$",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw what the thesis' code does, and as dashed lines where the fixed point without privacy is."""
    del published  # the thesis prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.7))
    rows = metrics[(metrics["experiment"] == "dppvi_fig4_1") & (metrics["arm"] == "code")]
    exact = metrics[(metrics["experiment"] == "dppvi_pvi_analytic") & (metrics["arm"] == "asynchronous")]
    for number, (metric, name) in enumerate(NAMES.items()):
        band(axes, rows[rows["metric"] == metric], "step", name, f"C{number}")
        axes.axhline(
            at_end(exact[exact["metric"] == metric])["value"].item(), color=f"C{number}", linestyle="--", lw=0.8
        )
    axes.set(xlabel="server rounds", ylabel="natural parameters", ylim=(-600, 900))
    legend_above(axes, ncols=4)
    return figure
