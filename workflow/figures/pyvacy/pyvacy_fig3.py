"""Epsilon as a function of the Renyi order, with the best of 72 fixed orders and of a continuous search."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import plain_curve
from pipeline.plots.style import COLUMN_WIDTH, legend_above


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the orders that matter, and all of them in an inset."""
    del published  # the paper prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    near, far = (metrics[metrics["arm"] == arm] for arm in ("near", "far"))
    plain_curve(axes, near[near["metric"] == "epsilon"], "order", r"$\varepsilon$ at this order")
    for color, (metric, name) in zip(
        ("C1", "C2", "C3"),
        (("grid", "best of 72 orders"), ("ternary", "continuous search"), ("pld", "tight (PLD)")),
        strict=True,
    ):
        value = near.loc[near["metric"] == metric, "value"].item()
        axes.axhline(value, color=color, linestyle="--", label=f"{name}: {value:.3f}")
    axes.set(xlabel=r"Rényi order $\alpha$", ylabel=r"$\varepsilon$ ($\delta = 10^{-5}$)", ylim=(0, 12))
    legend_above(axes, ncols=2)
    inset = axes.inset_axes((0.76, 0.45, 0.23, 0.4))
    plain_curve(inset, far[far["metric"] == "epsilon"], "order", "")
    inset.set(xscale="log", yscale="log")
    inset.tick_params(labelsize=5)
    return figure
