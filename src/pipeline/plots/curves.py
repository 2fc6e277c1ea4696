"""Curves with error bars over seeds."""

from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes


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
