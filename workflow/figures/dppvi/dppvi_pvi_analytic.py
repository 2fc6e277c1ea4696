"""Partitioned variational inference without privacy: log KL along rounds, by schedule and local optimum."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import plain_curve
from pipeline.plots.rounds import LOG_KL
from pipeline.plots.style import COLUMN_WIDTH, legend_above

ARMS = {
    "natural_sequential": ("Eq. 4.12, one client a round", "-"),
    "synchronous": ("all clients at once", "-"),
    "sequential": ("one client a round", "-"),
    "asynchronous": ("clients with delays", "-"),
    "gradient": ("all at once, by gradients", ":"),
    "unlike": ("unlike clients, damped", "--"),
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each way."""
    del published  # the thesis gives no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.9))
    rows = metrics[metrics["metric"] == "log_kl"]
    for number, (arm, (name, linestyle)) in enumerate(ARMS.items()):
        own = rows[rows["arm"] == arm]
        if not own.empty:
            plain_curve(axes, own, "step", name, color=f"C{number}", linestyle=linestyle)
    axes.set(xlabel="server rounds", ylabel=LOG_KL)
    legend_above(axes, ncols=2)
    return figure
