"""Share of clipped log-likelihood ratios against the variance of the proposal."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import mean_curves
from pipeline.plots.style import COLUMN_WIDTH


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the mean over chains with one standard error, and one value for fewer records.

    They should be clipped as often, as the bound has no N in it.
    """
    del published  # the paper prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.3))
    clipped = metrics[metrics["metric"] == "clipped"]
    mean_curves(axes, clipped[clipped["arm"] == "proposals"].assign(arm="$N = 10^6$"), "proposal_variance", "arm")
    fewer = clipped[clipped["arm"] == "fewer_records"]["value"]
    if len(fewer):
        axes.errorbar(
            0.01, fewer.mean(), yerr=float(fewer.std() / len(fewer) ** 0.5), fmt="s", fillstyle="none", color="C1",
            label="$N = 10^5$",
        )  # fmt: skip
    axes.set(xlabel="variance of the proposal", ylabel="share of ratios clipped", ylim=(0, None))
    axes.legend(loc="upper left")
    return figure
