"""Learning curves, which several experiments share."""

from collections.abc import Mapping

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.style import COLUMN_WIDTH, PUBLISHED, legend_above

STYLES = ("--", ":")


def learning_curves(
    metrics: pd.DataFrame, names: Mapping[str, str], published: Mapping[str, float], height: float
) -> Figure:
    """Draw the test accuracy of each arm along its steps, and published accuracies at the end as level lines.

    Args:
        metrics: Of the metric `learning`.
        names: Arms, and what the legend calls them.
        published: What the legend calls a published accuracy, and its value.
        height: Of the figure, in inches.
    """
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, height))
    tested = metrics[metrics["metric"] == "test_accuracy"]
    for arm, name in names.items():
        own = tested[tested["arm"] == arm].groupby("step")["value"].mean()
        if not own.empty:
            epsilon = tested.loc[(tested["arm"] == arm), "eps_sound"].max()
            shown = name if epsilon == float("inf") else rf"{name}, $\varepsilon$ = {epsilon:.2f}"
            axes.plot(own.index, 100 * own, marker=".", label=shown)
    for (name, value), style in zip(published.items(), STYLES, strict=False):
        axes.axhline(100 * value, color=PUBLISHED, linestyle=style, linewidth=0.8, label=name)
    axes.set(xlabel="steps", ylabel="test accuracy (%)")
    legend_above(axes)
    return figure
