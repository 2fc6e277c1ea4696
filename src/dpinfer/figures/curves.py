"""Curves with error bars over seeds."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from dpinfer.figures.style import PUBLISHED


def mean_curves(axes: Axes, metrics: pd.DataFrame, x: str, hue: str) -> None:
    """Draw one line for each value of `hue`: the mean over seeds, with bars of one standard error."""
    sns.lineplot(
        data=metrics, x=x, y="value", hue=hue, style=hue, ax=axes,
        errorbar="se", err_style="bars", markers=True, dashes=False,
    )  # fmt: skip


def mean_line(axes: Axes, metrics: pd.DataFrame, name: str) -> None:
    """Draw a dashed horizontal line at the mean over seeds: a baseline that knows no x."""
    axes.axhline(metrics["value"].mean(), color="0.4", linestyle="--", linewidth=1, label=name)


def plain_curve(axes: Axes, metrics: pd.DataFrame, x: str, name: str, **style: Any) -> None:
    """Draw one line through values that have no seeds."""
    ordered = metrics.sort_values(x)
    axes.plot(ordered[x], ordered["value"], label=name, **style)


def published_points(axes: Axes, published: pd.DataFrame | None, x: str, name: str) -> None:
    """Mark the paper's own values, if there are any."""
    if published is not None:
        axes.plot(published[x], published["value"], "x", color=PUBLISHED, label=name, zorder=5)


def mean_bands(axes: Axes, metrics: pd.DataFrame, x: str, hue: str, name: Callable[[float], str]) -> None:
    """Draw one line for each value of `hue`: the mean over seeds, in a band of one standard deviation."""
    for number, (value, group) in enumerate(metrics.groupby(hue)):
        spread = group.groupby(x)["value"].agg(["mean", "std"])
        axes.plot(spread.index, spread["mean"], marker=".", color=f"C{number}", label=name(float(str(value))))
        low, high = spread["mean"] - spread["std"], spread["mean"] + spread["std"]
        axes.fill_between(spread.index, low, high, color=f"C{number}", alpha=0.2, linewidth=0)


def epsilon_name(epsilon: float) -> str:
    """How a privacy level is called in a legend."""
    return "no privacy" if epsilon == float("inf") else rf"$\varepsilon = {epsilon:g}$"
