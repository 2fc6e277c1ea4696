"""The end of runs at epsilon 10 by the sampling rate: what more steps buy, and what less noise buys."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.rounds import LOG_KL, at_end
from pipeline.plots.style import COLUMN_WIDTH

RATES = {"q1": 1.0, "q01": 0.1, "q003": 0.03, "q001": 0.01}
WAYS = {"steps": r"$\sigma = 1$, as many steps as $\varepsilon$ allows", "noise": "20 000 steps, as little noise"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the mean of the last tenth of the runs, with one standard deviation over seeds."""
    del published  # not in the thesis
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.4))
    ends = at_end(metrics[metrics["metric"] == "log_kl_tail"])
    for number, (way, name) in enumerate(WAYS.items()):
        own = ends[ends["arm"].str.startswith(way)]
        rates = own["arm"].str.removeprefix(f"{way}_").map(RATES)
        spread = own.groupby(rates)["value"].agg(["mean", "std"])
        axes.errorbar(
            spread.index, spread["mean"], spread["std"], color=f"C{number}", marker="o", capsize=2, label=name
        )
    axes.set(xscale="log", xlabel="sampling rate q", ylabel=LOG_KL)
    axes.legend()
    return figure
