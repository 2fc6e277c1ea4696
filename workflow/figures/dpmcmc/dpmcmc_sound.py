"""Error of the running moments against the sound epsilon of every method as it was run."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pipeline.plots.chains import COLOURS, LINES, with_bars
from pipeline.plots.style import COLUMN_WIDTH


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw mean and variance; the baseline is quadrature."""
    del published  # the paper has no such account
    figure, panels = plt.subplots(2, 1, figsize=(COLUMN_WIDTH, 4.2), sharex=True)
    for axes, moment in zip(panels, ("mean", "variance"), strict=True):
        for arm, (_, linestyle) in LINES.items():
            for index, colour in COLOURS.items():
                rows = metrics[(metrics["arm"] == arm) & (metrics["metric"] == f"{moment}_error_{index}")]
                with_bars(axes, rows, "eps_sound", color=colour, linestyle=linestyle)
        axes.set(xscale="log", ylabel=f"error of the {moment}", ylim=(0, None))
    panels[-1].set_xlabel(r"sound $\varepsilon$ (replace one record, $\delta = 2\times 10^{-6}$)")
    handles = [Line2D([], [], color="0.3", linestyle=line, label=name) for name, line in LINES.values()]
    handles += [Line2D([], [], color=colour, label=rf"$\theta_{index}$") for index, colour in COLOURS.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure
