"""Figures of runs along their rounds or along what they have spent, which several experiments share."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.plots.style import COLUMN_WIDTH, legend_above

LOG_KL = r"log KL($q\,\|$ exact posterior)"
EPSILON = r"$\varepsilon$ as the thesis accounts it ($\delta = 10^{-4}$)"
RATES = {"q1": "q = 1", "q01": "q = 0.1", "q003": "q = 0.03", "q001": "q = 0.01"}


def band(
    axes: Axes, rows: pd.DataFrame, x: str, name: str, color: str, *, single: bool = True, **style: Any
) -> None:
    """Draw the median over seeds, a band from the 10th to the 90th percentile, and a single run as a thin line."""
    if rows.empty:
        return
    spread = rows.groupby(x)["value"].quantile(np.array([0.1, 0.5, 0.9])).unstack()
    axes.plot(spread.index, spread[0.5], color=color, label=name, **style)
    axes.fill_between(spread.index, spread[0.1], spread[0.9], color=color, alpha=0.2, linewidth=0)
    if single:
        one = rows[rows["seed"] == 0].sort_values(x)
        axes.plot(one[x], one["value"], color=color, linewidth=0.4, alpha=0.8)


def at_end(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of each cell's last recorded step."""
    return rows[rows["step"] == rows.groupby("cell")["step"].transform("max")]


def by_rate(metrics: pd.DataFrame, clip: float) -> Figure:
    """Log KL along epsilon at one clip, one curve for each sampling rate."""
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.5))
    rows = metrics[(metrics["metric"] == "log_kl") & (metrics["clip"] == clip)]
    for number, (arm, name) in enumerate(RATES.items()):
        band(axes, rows[rows["arm"] == arm], "eps_paper", name, f"C{number}")
    axes.set(xlabel=EPSILON, ylabel=LOG_KL)
    _name(axes, f"C = {clip:g}")
    legend_above(axes, ncols=2)
    return figure


def by_clip(metrics: pd.DataFrame, arms: Mapping[str, str], quantiles: tuple[float, ...], title: str) -> Figure:
    """Log KL along epsilon with a fixed clip, with percentiles of the batch, and with private quantiles.

    Args:
        metrics: Of one experiment.
        arms: Names of the arms for `fixed`, `percentile` and `private`.
        quantiles: Which are drawn.
        title: What the panel shows.
    """
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.9))
    rows = metrics[metrics["metric"] == "log_kl"]
    band(axes, rows[rows["arm"] == arms["fixed"]], "eps_paper", "fixed C = 5", "black")
    for number, quantile in enumerate(quantiles):
        chosen = rows[rows["quantile"] == quantile]
        name = f"{100 * quantile:.0f}th percentile"
        band(axes, chosen[chosen["arm"] == arms["percentile"]], "eps_paper", f"{name}, not private", f"C{number}")
        private = chosen[chosen["arm"] == arms["private"]]
        band(axes, private, "eps_paper", f"{name}, private", f"C{number}", linestyle="--")
    axes.set(xlabel=EPSILON, ylabel=LOG_KL)
    _name(axes, title)
    legend_above(axes, ncols=2)
    return figure


def _name(axes: Axes, text: str) -> None:
    """Say inside the axes which panel this is, in the corner that falling curves leave free."""
    axes.text(0.98, 0.97, text, transform=axes.transAxes, ha="right", va="top", fontsize=7)
