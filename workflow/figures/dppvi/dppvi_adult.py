"""Test accuracy of logistic regression on Adult: one client, ten alike, ten that differ in education."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.style import COLUMN_WIDTH

ARMS = {"pooled": "one client", "alike": "ten, alike", "unlike": "ten, by education"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the mean over seeds with one standard deviation, without and with privacy."""
    del published  # not in the thesis
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.3))
    rows = metrics[metrics["metric"] == "accuracy"]
    for number, (epsilon, level) in enumerate(rows.groupby("epsilon")):
        name = "no privacy" if epsilon == float("inf") else rf"$\varepsilon = {epsilon:g}$ for each client"
        spread = level.groupby("arm")["value"].agg(["mean", "std"]).reindex(list(ARMS))
        places = [place + 0.15 * number for place in range(len(ARMS))]
        axes.errorbar(
            places, spread["mean"], spread["std"], color=f"C{number}", marker="o", ls="", capsize=2, label=name
        )
    axes.set(ylabel="test accuracy", xticks=[place + 0.075 for place in range(len(ARMS))])
    axes.set_xticklabels(ARMS.values())
    axes.legend()
    return figure
