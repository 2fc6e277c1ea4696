"""Epsilon of DP-MCMC against the number of iterations: Theorem 2, and the certified divergence."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpinfer.figures.curves import plain_curve, published_points
from dpinfer.figures.style import COLUMN_WIDTH, legend_above

SIZES = {"1e5": r"$b = 100$", "1e6": r"$b = 1000$", "1e7": r"$b = 10^4$"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one colour for each batch size."""
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    curves = metrics[metrics["metric"] == "epsilon"]
    for color, (size, name) in zip(("C0", "C1", "C2"), SIZES.items(), strict=True):
        theorem, certified = (curves[curves["arm"] == f"{bound}_{size}"] for bound in ("theorem", "certified"))
        plain_curve(axes, theorem, "num_steps", f"{name}, Theorem 2", color=color)
        plain_curve(axes, certified, "num_steps", f"{name}, certified", color=color, linestyle=":")
    published_points(axes, published, "num_steps", "paper")
    axes.set(yscale="log", xlabel="iterations $T$", ylabel=r"$\varepsilon$ ($b/N = 0.001$, $\delta = 1/N$)")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k")
    legend_above(axes, ncols=2)
    return figure
