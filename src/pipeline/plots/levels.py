"""Figures of a metric at several privacy levels, which several experiments share."""

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.plots.style import COLUMN_WIDTH

EXTRA = {"exact": "none", "clipped": "none,\nclipped"}


def boxes(runs: pd.DataFrame, baseline: float, neighbours: str) -> Figure:
    """Test AUC: one box for each level's runs, and a line for the baseline that knows nothing of groups.

    Args:
        runs: Arms `exact` and `clipped` are named as such, all others by their `epsilon`.
        baseline: Where the line is.
        neighbours: What the epsilon protects, in words.
    """
    low, high = runs["value"].min(), runs["value"].max()
    # A baseline far below has a piece of axis of its own: one axis for both would flatten every box to a line.
    pieces = 2 if low - baseline > high - low else 1
    figure, grid = plt.subplots(
        pieces, 1, figsize=(COLUMN_WIDTH, 2.7), sharex=True, squeeze=False, height_ratios=[5, 1][:pieces]
    )
    axes, last = grid[0, 0], grid[-1, 0]
    labels = [EXTRA.get(arm, f"{epsilon:g}") for arm, epsilon in zip(runs["arm"], runs["epsilon"], strict=True)]
    sns.boxplot(data=runs.assign(level=labels), x="level", y="value", ax=axes, color="C0", width=0.6, fliersize=2)
    last.axhline(baseline, color="C3", linestyle="--", label="logistic regression without groups")
    if last is not axes:
        last.set_ylim(baseline - 0.01, baseline + 0.01)
        last.set_yticks([baseline], [f"{baseline:.3f}"])
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(axis="x", length=0)
    axes.set(xlabel="", ylabel="test AUC")
    last.set_xlabel(rf"$\varepsilon$ ({neighbours}, $\delta = 1/N$)")
    figure.legend(*last.get_legend_handles_labels(), loc="outside upper center", frameon=False)
    return figure


def bands(runs: pd.DataFrame, x: str) -> tuple[Figure, Axes]:
    """Test AUC along a logarithmic x: for each epsilon the mean over seeds, within one standard deviation."""
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.7))
    for number, (epsilon, group) in enumerate(runs.groupby("epsilon")):
        spread = group.groupby(x)["value"].agg(["mean", "std"])
        name = "no privacy" if epsilon == float("inf") else rf"$\varepsilon = {epsilon:g}$"
        axes.plot(spread.index, spread["mean"], marker=".", color=f"C{number}", label=name)
        low, high = spread["mean"] - spread["std"], spread["mean"] + spread["std"]
        axes.fill_between(spread.index, low, high, color=f"C{number}", alpha=0.2, linewidth=0)
    axes.set(xscale="log", ylabel="test AUC")
    return figure, axes
