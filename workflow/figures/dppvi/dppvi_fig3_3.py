"""What a client's messages cost when M clients share the noise: the thesis' accountant and the exact value."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import plain_curve
from pipeline.plots.style import COLUMN_WIDTH

CLIENTS = (1, 2, 5, 10)


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one colour for each number of clients."""
    del published  # the thesis gives no number
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.5))
    curves = metrics[metrics["metric"] == "epsilon"]
    for number, clients in enumerate(CLIENTS):
        moments, exact = (curves[curves["arm"] == f"{arm}_{clients}"] for arm in ("moments", "exact"))
        plain_curve(axes, moments, "num_steps", f"M = {clients}", color=f"C{number}")
        plain_curve(axes, exact, "num_steps", "_exact", color=f"C{number}", linestyle=":")
    axes.plot([], [], color="0.3", label="moments, 32 orders")
    axes.plot([], [], color="0.3", linestyle=":", label="exact")
    axes.set(yscale="log", xlabel="messages of a client", ylabel=r"$\varepsilon$ ($\delta = 10^{-4}$)")
    axes.legend(ncols=2, loc="lower right")
    return figure
