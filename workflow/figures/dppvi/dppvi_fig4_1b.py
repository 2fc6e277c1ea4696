"""Log KL along the rounds of a typical run with five clients, by what the clients start from."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.rounds import LOG_KL, at_end, band
from pipeline.plots.style import COLUMN_WIDTH, legend_above

ARMS = {
    "code": "thesis' code: clients never fetch",
    "protocol": "Algorithm 1, changes added up",
    "damped": "Algorithm 1, changes averaged",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the three ways, and as a dashed line the best that independent coordinates allow."""
    del published  # the thesis prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.8))
    rows = metrics[metrics["metric"] == "log_kl"]
    for number, (arm, name) in enumerate(ARMS.items()):
        own = rows[(rows["experiment"] == "dppvi_fig4_1") & (rows["arm"] == arm)]
        band(axes, own, "step", name, f"C{number}")
    exact = rows[(rows["experiment"] == "dppvi_pvi_analytic") & (rows["arm"] == "asynchronous")]
    floor = at_end(exact)["value"].item()
    axes.axhline(floor, color="0.4", linestyle="--", lw=0.8, label="without privacy")
    axes.set(xlabel="server rounds", ylabel=LOG_KL)
    legend_above(axes)
    return figure
