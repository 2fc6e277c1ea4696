"""Epsilon of a client along the rounds of a typical run: as the thesis accounts it, and for what was run."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.style import COLUMN_WIDTH, legend_above

COLUMNS = {
    "eps_paper": "thesis: moments, Poisson sampling",
    "eps_sound": "sound, for the subsets that were drawn",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw both accounts of the same run."""
    del published  # the thesis prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.3))
    rows = metrics[(metrics["experiment"] == "dppvi_fig4_1") & (metrics["arm"] == "code")]
    steps = rows.drop_duplicates("step").sort_values("step")
    for column, name in COLUMNS.items():
        axes.plot(steps["step"], steps[column], label=name)
    axes.set(xlabel="server rounds", ylabel=r"$\varepsilon$ of each client ($\delta = 10^{-4}$)")
    legend_above(axes)
    return figure
