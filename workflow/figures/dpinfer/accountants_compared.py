"""Epsilon against steps for one training run under every accountant; nothing true lies below the shaded floor."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import plain_curve
from pipeline.plots.style import COLUMN_WIDTH, legend_above

CURVES = {
    "advanced": "advanced composition",
    "moments": "moments, 32 orders",
    "rdp_classic": "Rényi, 72 orders, classic",
    "rdp_improved": "Rényi, improved",
    "fourier": "Fourier (estimate)",
    "pld": "PLD (upper bound)",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the bounds and the floor below them."""
    del published  # a figure of our own
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.9))
    curves = metrics[metrics["metric"] == "epsilon"]
    styles = ("-", "-", "-", "-", "--", ":")
    for (arm, name), linestyle in zip(CURVES.items(), styles, strict=True):
        plain_curve(axes, curves[curves["arm"] == arm], "num_steps", name, linestyle=linestyle)
    floor = metrics[metrics["metric"] == "epsilon_lower"].sort_values("num_steps")
    axes.fill_between(floor["num_steps"], 1e-2, floor["value"], color="0.85", label="impossible (PLD lower bound)")
    axes.set(xscale="log", yscale="log", xlabel="steps", ylabel=r"$\varepsilon$ ($\delta = 10^{-5}$)")
    axes.set_ylim(bottom=floor["value"].min() / 2)
    legend_above(axes, ncols=2)
    return figure
