"""Time for a step of the auto-encoder of MNIST against the size of the batch, on the machine that ran this."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import time_curves
from pipeline.plots.style import COLUMN_WIDTH, legend_above

NAMES = {
    "vmap": "private, gradients one by one (vmap)",
    "private": "private, book-keeping",
    "exact": "not private",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw a line for each way; the paper prints no numbers."""
    del published
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    time_curves(axes, metrics, "batch", "milliseconds", NAMES)
    ticks = sorted(metrics["batch"].unique())
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel="records in a batch", ylabel="time for one step (ms)")
    legend_above(axes)
    return figure
