"""Figures of measured times, which several experiments share."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes


def time_curves(axes: Axes, times: pd.DataFrame, x: str, unit: str, names: Mapping[str, str]) -> None:
    """Draw each program's median time along x, with bars between the quartiles.

    Args:
        axes: Where to draw; both axes become logarithmic.
        times: Metrics of a timing study.
        x: Column of the horizontal axis.
        unit: Metric of the median; those of the quartiles end in `_low` and `_high`.
        names: Programs, and what the legend calls them.
    """
    for program, name in names.items():
        own = times[times["program"] == program].pivot_table(index=x, columns="metric", values="value")
        if own.empty:
            continue
        bars = [own[unit] - own[f"{unit}_low"], own[f"{unit}_high"] - own[unit]]
        axes.errorbar(own.index, own[unit], yerr=bars, marker=".", capsize=2, label=name)
    axes.set(xscale="log", yscale="log")
