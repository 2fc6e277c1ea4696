"""What each of five clients has spent when it stops, and the posterior along the rounds."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.rounds import LOG_KL, band
from pipeline.plots.style import COLUMN_WIDTH, legend_above

NAMES = {"own": "budgets of their own", "alike": "the smallest for all"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw epsilons as bars, log KL as curves."""
    del published  # not in the thesis
    figure, (left, right) = plt.subplots(1, 2, figsize=(COLUMN_WIDTH, 2.2), width_ratios=[2, 3])
    spent = metrics[(metrics["metric"] == "eps_sound") & (metrics["arm"] == "own")]
    left.bar(spent["client"] + 1, spent["value"], color="C0")
    left.set(xlabel="client", ylabel=r"$\varepsilon$ spent ($\delta = 10^{-4}$)", xticks=range(1, 6))
    for number, (arm, name) in enumerate(NAMES.items()):
        rows = metrics[(metrics["metric"] == "log_kl") & (metrics["arm"] == arm)]
        band(right, rows, "step", name, f"C{number}")
    right.set(xlabel="server rounds", ylabel=LOG_KL)
    legend_above(right)
    return figure
