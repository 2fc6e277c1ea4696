"""Largest error of the decomposed noise's distribution function against C: as samples show it, and exactly."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.chains import NAMES
from pipeline.plots.curves import plain_curve
from pipeline.plots.style import COLUMN_WIDTH, legend_above


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the mean over samples with one standard error, and the exact error, which needs none."""
    del published  # the supplement prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    for number, (arm, name) in enumerate(NAMES.items()):
        own = metrics[metrics["arm"] == arm]
        samples = own[own["metric"] == "sampled_error"].groupby("variance")["value"]
        axes.errorbar(
            samples.mean().index, samples.mean(), yerr=samples.sem(), fmt="o-", color=f"C{number}",
            label=f"{name}, as samples show it",
        )  # fmt: skip
        exact = own[own["metric"] == "sup_error"]
        plain_curve(axes, exact, "variance", f"{name}, exact", color=f"C{number}", linestyle=":", marker="x")
    axes.set(yscale="log", xlabel="variance $C$ of the normal part", ylabel="largest error of the CDF")
    legend_above(axes)
    return figure
