"""Curves that several figures share: means over seeds, epsilon, learning and times."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from pipeline.plots.style import COLUMN_WIDTH, PUBLISHED, legend_above

DPVI_ACCOUNTANTS = {
    "advanced_code": "advanced composition (code)",
    "advanced_paper": "advanced composition (paper)",
    "moments_code": "moments accountant (code)",
    "moments_theorem": "moments accountant (theorem)",
    "pld_replace_one": "PLD, replace-one",
}
STYLES = ("--", ":")


def mean_curves(axes: Axes, metrics: pd.DataFrame, x: str, hue: str) -> None:
    """Draw one line for each value of `hue`: the mean over seeds, with bars of one standard error."""
    sns.lineplot(
        data=metrics, x=x, y="value", hue=hue, style=hue, ax=axes,
        errorbar="se", err_style="bars", markers=True, dashes=False,
    )  # fmt: skip


def mean_line(axes: Axes, metrics: pd.DataFrame, name: str) -> None:
    """Draw a dashed horizontal line at the mean over seeds: a baseline that knows no x."""
    axes.axhline(metrics["value"].mean(), color="0.4", linestyle="--", linewidth=1, label=name)


def plain_curve(axes: Axes, metrics: pd.DataFrame, x: str, name: str, **style: Any) -> None:
    """Draw one line through values that have no seeds."""
    ordered = metrics.sort_values(x)
    axes.plot(ordered[x], ordered["value"], label=name, **style)


def log_epsilon(axes: Axes) -> None:
    """Make the horizontal axis logarithmic, with plain numbers: within one decade powers of ten would not fit."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def by_noise(metrics: pd.DataFrame) -> Figure:
    """Epsilon of DPVI against its noise, one line for each accountant."""
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    curves = metrics[metrics["metric"] == "epsilon"]
    for arm, name in DPVI_ACCOUNTANTS.items():
        plain_curve(axes, curves[curves["arm"] == arm], "noise_multiplier", name, marker=".")
    axes.set(xscale="log", yscale="log", xlabel=r"$\sigma$ (noise is $2\sigma$ clips)")
    axes.set_ylabel(r"$\varepsilon$ ($\delta = 10^{-3}$)")
    legend_above(axes)
    return figure


def of_barker(metrics: pd.DataFrame, x: str, sizes: Mapping[str, str]) -> tuple[Figure, Axes]:
    """Epsilon of DP-MCMC along `x` by Theorem 2 and by the certified divergence, one colour for each size.

    Args:
        metrics: Arms are called `theorem_<size>` and `certified_<size>`.
        x: The column on the horizontal axis.
        sizes: For each size, its name in the legend.
    """
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    curves = metrics[metrics["metric"] == "epsilon"]
    for number, (size, name) in enumerate(sizes.items()):
        theorem, certified = (curves[curves["arm"] == f"{bound}_{size}"] for bound in ("theorem", "certified"))
        plain_curve(axes, theorem, x, f"{name}, Theorem 2", color=f"C{number}")
        plain_curve(axes, certified, x, f"{name}, certified", color=f"C{number}", linestyle=":")
    axes.set_yscale("log")
    legend_above(axes, ncols=2)
    return figure, axes


def time_curves(axes: Axes, times: pd.DataFrame, x: str, unit: str, names: Mapping[str, str]) -> None:
    """Draw each program's median time along x, with bars between the quartiles.

    Args:
        axes: Where to draw; both axes become logarithmic.
        times: Metrics of a timing study.
        x: Column of the horizontal axis.
        unit: Metric of the median; those of the quartiles end in `_low` and `_high`.
        names: Programs, and what the legend calls them.
    """
    for program, name in names.items():
        own = times[times["program"] == program].pivot_table(index=x, columns="metric", values="value")
        if own.empty:
            continue
        bars = [own[unit] - own[f"{unit}_low"], own[f"{unit}_high"] - own[unit]]
        axes.errorbar(own.index, own[unit], yerr=bars, marker=".", capsize=2, label=name)
    axes.set(xscale="log", yscale="log")


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
