"""Predictive densities of records in the plane."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Patch

from pipeline.plots.style import COLUMN_WIDTH

MEANS, VARIANCE = ((0, 0), (2, 2), (-2, -2), (-2, 2), (2, -2)), 0.5
# Circles of the paper: their radius is this many standard deviations.
WIDTH = 2 * np.sqrt(2)
LEVELS = np.geomspace(1e-4, 0.1, 7)


def contours(metrics: pd.DataFrame, arms: dict[str, str]) -> Figure:
    """One panel for each arm that was run: the density of the first seed, its components and the true ones.

    Args:
        metrics: Rows of the metrics density, components and log_likelihood.
        arms: Arms and their titles.
    """
    shown = {arm: name for arm, name in arms.items() if (metrics["arm"] == arm).any()}
    figure, panels = plt.subplots(
        1, len(shown), figsize=(COLUMN_WIDTH, 2.3), sharex=True, sharey=True, squeeze=False
    )
    for axes, (arm, name) in zip(panels[0], shown.items(), strict=True):
        runs = metrics[metrics["arm"] == arm]
        first = runs[runs["seed"] == 0]
        _density(axes, first[first["metric"] == "density"])
        _circles(axes, first[first["metric"] == "components"])
        score = runs[runs["metric"] == "log_likelihood"]["value"].mean()
        axes.set(
            xlim=(-6, 6), ylim=(-6, 6), aspect="equal", xlabel="$x_1$", title=f"{name}\n{score:.2f} per record"
        )
    panels[0, 0].set_ylabel("$x_2$")
    handles = [
        Patch(color="#6baed6", label="predictive density, log scale"),
        Line2D([], [], color="black", label="true components"),
        Line2D([], [], color="C3", linestyle="--", label="learned, width by weight"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False, fontsize=6)
    return figure


def _density(axes: Axes, density: pd.DataFrame) -> None:
    grid = density.pivot(index="y", columns="x", values="value")
    axes.contourf(
        grid.columns, grid.index, grid.to_numpy(), levels=LEVELS, cmap="Blues", extend="both", norm="log"
    )


def _circles(axes: Axes, components: pd.DataFrame) -> None:
    for mean in MEANS:
        axes.add_patch(Circle(mean, WIDTH * np.sqrt(VARIANCE), fill=False, color="black", linewidth=0.8))
    for _, own in components.groupby("component"):
        found = own.set_index("quantity")["value"]
        radius = WIDTH * np.sqrt(found["variance"])
        width = 0.3 + 4 * found["weight"]
        axes.add_patch(
            Circle((found["x"], found["y"]), radius, fill=False, color="C3", linestyle="--", linewidth=width)
        )
