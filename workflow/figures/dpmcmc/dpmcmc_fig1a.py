"""Epsilon of DP-MCMC against the sampling ratio: Theorem 2, and the certified divergence."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpinfer.figures.curves import plain_curve, published_points
from dpinfer.figures.style import COLUMN_WIDTH, legend_above

SIZES = {"1e5": r"$N = 10^5$", "1e6": r"$N = 10^6$", "1e7": r"$N = 10^7$"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one colour for each number of records."""
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    curves = metrics[metrics["metric"] == "epsilon"]
    for color, (size, name) in zip(("C0", "C1", "C2"), SIZES.items(), strict=True):
        theorem, certified = (curves[curves["arm"] == f"{bound}_{size}"] for bound in ("theorem", "certified"))
        plain_curve(axes, theorem, "sampling_rate", f"{name}, Theorem 2", color=color)
        plain_curve(axes, certified, "sampling_rate", f"{name}, certified", color=color, linestyle=":")
    published_points(axes, published, "sampling_rate", "paper")
    axes.set(yscale="log", xlabel="sampling ratio $b/N$", ylabel=r"$\varepsilon$ ($T = 5000$, $\delta = 1/N$)")
    legend_above(axes, ncols=2)
    return figure
