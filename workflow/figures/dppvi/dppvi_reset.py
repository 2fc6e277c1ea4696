"""Data-set level DP-PVI: how far the factors drift from the posterior, and what that does to it."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.rounds import LOG_KL, band
from pipeline.plots.style import COLUMN_WIDTH

NOISE = 0.05
ARMS = {
    "alg3": "Alg. 3, noise shared",
    "alg3_fix": "its fix, noise by client",
    "alg4": "Alg. 4, noise at server",
    "reset_50": "Alg. 4, reset every 50",
    "reset_10": "Alg. 4, reset every 10",
    "alg4_unlike": "Alg. 4, unlike shards",
    "reset_10_unlike": "reset 10, unlike shards",
}
DRIFTING = ("alg4", "reset_50", "reset_10")


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the gap above and log KL below."""
    del published  # the thesis has no such experiment
    figure, (above, below) = plt.subplots(2, 1, figsize=(COLUMN_WIDTH, 4.4), height_ratios=[2, 3])
    rows = metrics[metrics["noise_multiplier"] == NOISE]
    for number, (arm, name) in enumerate(ARMS.items()):
        own = rows[rows["arm"] == arm]
        linestyle = "--" if arm.endswith("unlike") else "-"
        if arm in DRIFTING:
            band(above, own[own["metric"] == "gap"], "step", name, f"C{number}")
        band(below, own[own["metric"] == "log_kl"], "step", name, f"C{number}", single=False, linestyle=linestyle)
    above.set(xlabel="server rounds", ylabel="gap of factors\n(natural parameters)")
    below.set(xlabel="server rounds", ylabel=LOG_KL)
    figure.legend(*below.get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    return figure
