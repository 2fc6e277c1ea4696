"""Epsilon of DP-MCMC against the number of iterations: Theorem 2, and the certified divergence."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.curves import of_barker

SIZES = {"1e5": r"$b = 100$", "1e6": r"$b = 1000$", "1e7": r"$b = 10^4$"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one colour for each batch size."""
    del published  # the paper prints no numbers
    figure, axes = of_barker(metrics, "num_steps", SIZES)
    axes.set(xlabel="iterations $T$", ylabel=r"$\varepsilon$ ($b/N = 0.001$, $\delta = 1/N$)")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k")
    return figure
