"""Epsilon of DP-MCMC against the sampling ratio: Theorem 2, and the certified divergence."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.curves import of_barker

SIZES = {"1e5": r"$N = 10^5$", "1e6": r"$N = 10^6$", "1e7": r"$N = 10^7$"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one colour for each number of records."""
    del published  # the paper prints no numbers
    figure, axes = of_barker(metrics, "sampling_rate", SIZES)
    axes.set(xlabel="sampling ratio $b/N$", ylabel=r"$\varepsilon$ ($T = 5000$, $\delta = 1/N$)")
    return figure
