"""Epsilon of the chain of the experiments along its steps: Theorem 2, the certified divergence, and its PLD."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import plain_curve
from pipeline.plots.style import COLUMN_WIDTH, legend_above

CURVES = {
    "chain_theorem": "Theorem 2 and Corollary 2",
    "chain_certified": "certified divergence, Corollary 2",
    "chain_pld": "certified profile, composed by PLD",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each account."""
    del published  # the paper prints one number, which is among the claims
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    epsilon = metrics[metrics["metric"] == "epsilon"]
    for (arm, name), linestyle in zip(CURVES.items(), ("-", "--", "-."), strict=True):
        plain_curve(axes, epsilon[epsilon["arm"] == arm], "num_steps", name, linestyle=linestyle)
    axes.set(xscale="log", yscale="log", xlabel="steps $T$")
    axes.set_ylabel(r"$\varepsilon$ ($b = 1000$, $N = 10^6$, $\delta = 10^{-6}$)")
    legend_above(axes)
    return figure
