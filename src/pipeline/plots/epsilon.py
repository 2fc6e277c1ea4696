"""Figures of epsilon that several experiments share."""

from collections.abc import Mapping

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from pipeline.plots.curves import plain_curve
from pipeline.plots.style import COLUMN_WIDTH, legend_above

DPVI_ACCOUNTANTS = {
    "advanced_code": "advanced composition (code)",
    "advanced_paper": "advanced composition (paper)",
    "moments_code": "moments accountant (code)",
    "moments_theorem": "moments accountant (theorem)",
    "pld_replace_one": "PLD, replace-one",
}


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
