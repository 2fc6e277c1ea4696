"""Epsilon of DPVI on Abalone against its noise, by accountant."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpinfer.figures.curves import plain_curve
from dpinfer.figures.style import COLUMN_WIDTH, legend_above

CURVES = {
    "advanced_code": "advanced composition (code)",
    "advanced_paper": "advanced composition (paper)",
    "moments_code": "moments accountant (code)",
    "moments_theorem": "moments accountant (theorem)",
    "pld_replace_one": "PLD, replace-one",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one line for each accountant."""
    del published  # the stored values are compared in the scorecard
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    curves = metrics[metrics["metric"] == "epsilon"]
    for arm, name in CURVES.items():
        plain_curve(axes, curves[curves["arm"] == arm], "noise_multiplier", name, marker=".")
    axes.set(xscale="log", yscale="log", xlabel=r"$\sigma$ (noise is $2\sigma$ clips)")
    axes.set_ylabel(r"$\varepsilon$ ($\delta = 10^{-3}$)")
    legend_above(axes)
    return figure
