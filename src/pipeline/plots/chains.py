"""Plots of DP-MCMC: chains, their posteriors, and the correction of their noise."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pipeline.plots.curves import plain_curve
from pipeline.plots.style import COLUMN_WIDTH, PUBLISHED, legend_above

COLOURS = {1: "C3", 2: "C0"}
BASELINES = {"gap": "baseline: the published chain", "error": "baseline: quadrature"}
LINES: dict[str, tuple[str, Any]] = {
    "mcmc": ("DP-MCMC", "-"),
    "sgld": ("DP-SGLD as coded", "--"),
    "sgld_corrected": ("DP-SGLD, noise $2h$", ":"),
    "sgld_clipped": ("DP-SGLD, noise $2h$, clip that binds", "-."),
}
PUBLISHED_MARKS = {"mcmc": "o", "sgld": "s"}
FILLS: dict[int, Any] = {1: "none", 2: "full"}
NAMES = {"mixture": "Gaussian mixture", "ridge": "ridge regression"}
SHOWN = 2.0
"""The variance whose distribution functions are shown."""


def scatter(metrics: pd.DataFrame, arm: str, published: pd.DataFrame | None) -> tuple[Figure, Axes]:
    """Draws of the first chain of an arm, and mean and standard deviations of the published chain as a cross."""
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.9))
    first = metrics[(metrics["arm"] == arm) & (metrics["seed"] == 0)]
    draws = first[first["metric"].isin(["theta_1", "theta_2"])].pivot_table(
        index="step", columns="metric", values="value"
    )
    axes.scatter(draws["theta_1"], draws["theta_2"], s=3, alpha=0.2, linewidths=0, color="C0", rasterized=True)
    _cross(axes, draws.mean(), draws.std(), "C1", "ours: mean $\\pm$ sd")
    if published is not None:
        stated = published.set_index("metric")["value"]
        mean = pd.Series({f"theta_{k}": stated[f"mean_{k}"] for k in (1, 2)})
        deviation = pd.Series({f"theta_{k}": stated[f"variance_{k}"] ** 0.5 for k in (1, 2)})
        _cross(axes, mean, deviation, PUBLISHED, "paper: mean $\\pm$ sd")
    axes.set(xlim=(-2.5, 2.5), ylim=(-2.6, 2.6), xlabel=r"$\theta_1$", ylabel=r"$\theta_2$")
    axes.legend(loc="lower left")
    return figure, axes


def _cross(axes: Axes, mean: pd.Series, deviation: pd.Series, colour: str, name: str) -> None:
    axes.errorbar(
        mean["theta_1"], mean["theta_2"], xerr=deviation["theta_1"], yerr=deviation["theta_2"],
        color=colour, marker="o", markersize=3, capsize=2, linewidth=1, label=name,
    )  # fmt: skip


def errors(
    metrics: pd.DataFrame, published: pd.DataFrame | None, moment: str, arms: Mapping[str, float]
) -> Figure:
    """Error of the running mean or variance against the paper's epsilon, to both baselines.

    Args:
        metrics: Rows of `moment_error`.
        published: The paper's values: `arm`, `epsilon`, `parameter`, `value`.
        moment: mean or variance.
        arms: Arms that are shown, and the largest epsilon up to which they are.
    """
    figure, panels = plt.subplots(2, 1, figsize=(COLUMN_WIDTH, 4.2), sharex=True, sharey=True)
    for axes, (baseline, title) in zip(panels, BASELINES.items(), strict=True):
        for arm, most in arms.items():
            chosen = metrics[(metrics["arm"] == arm) & (metrics["eps_paper"] <= most)]
            for index, colour in COLOURS.items():
                rows = chosen[chosen["metric"] == f"{moment}_{baseline}_{index}"]
                with_bars(axes, rows, "eps_paper", color=colour, linestyle=LINES[arm][1])
        axes.set(title=title, ylabel=f"error of the {moment}")
    if published is not None:
        # The paper's errors are to its own chain.
        for arm in PUBLISHED_MARKS.keys() & arms.keys():
            for index, fill in FILLS.items():
                rows = published[(published["arm"] == arm) & (published["parameter"] == index)]
                style: dict[str, Any] = {"color": PUBLISHED, "markersize": 3, "fillstyle": fill}
                panels[0].plot(rows["epsilon"], rows["value"], PUBLISHED_MARKS[arm], **style)
    panels[0].set_ylim(bottom=0)
    panels[-1].set_xlabel(r"$\varepsilon$ as the paper accounts it")
    figure.legend(handles=_handles(list(arms), published is not None), loc="outside upper center", ncols=2)
    return figure


def with_bars(axes: Axes, rows: pd.DataFrame, x: str, **style: Any) -> None:
    """The mean over seeds, with bars of one standard error at a dozen places."""
    groups = rows.dropna(subset=["value"]).groupby(x)["value"]
    mean, error = groups.mean(), groups.sem()
    axes.plot(mean.index, mean, linewidth=1, **style)
    every = max(1, len(mean) // 12)
    axes.errorbar(
        mean.index[::every], mean[::every], yerr=error[::every], fmt="none", ecolor=style["color"], elinewidth=0.7
    )


def _handles(arms: list[str], is_published: bool) -> list[Line2D]:
    handles = [Line2D([], [], color="0.3", linestyle=LINES[arm][1], label=LINES[arm][0]) for arm in arms]
    handles += [Line2D([], [], color=colour, label=rf"$\theta_{index}$") for index, colour in COLOURS.items()]
    if is_published:
        handles += [
            Line2D([], [], color=PUBLISHED, marker=mark, linestyle="", fillstyle="none", markersize=3,
                   label=f"paper, {LINES[arm][0].split(' as')[0]}")
            for arm, mark in PUBLISHED_MARKS.items()
            if arm in arms
        ]  # fmt: skip
    return handles


def log_densities(metrics: pd.DataFrame, arm: str) -> Figure:
    """Log density of a correction, one panel for each variance of the normal part."""
    own = metrics[(metrics["arm"] == arm) & (metrics["metric"] == "log_density")]
    finite = own[np.isfinite(own["value"])]
    variances = sorted(own["variance"].unique())
    figure, panels = plt.subplots(len(variances), 1, figsize=(COLUMN_WIDTH, 1.05 * len(variances)), sharex=True)
    for axes, variance in zip(panels, variances, strict=True):
        # What has no density at all leaves a gap.
        rows = finite[finite["variance"] == variance]
        axes.plot(rows["x"], rows["value"], ".", markersize=1.5)
        axes.set_title(f"$C = {variance:g}$", loc="left", y=0.75)
    panels[-1].set_xlabel("$x$")
    figure.supylabel(r"log density of $V_{cor}$", fontsize=8)
    return figure


def sampled(metrics: pd.DataFrame, metric: str) -> tuple[Figure, Axes]:
    """A curve along x of the samples at the largest variance, by both corrections."""
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.4))
    own = metrics[(metrics["metric"] == metric) & (metrics["variance"] == SHOWN)]
    for (arm, name), linestyle in zip(NAMES.items(), ("-", "--"), strict=True):
        plain_curve(axes, own[own["arm"] == arm], "x", name, linestyle=linestyle)
    if metric == "cdf":
        x = np.sort(own["x"].unique())
        axes.plot(x, 1 / (1 + np.exp(-x)), ":", color="black", label="logistic")
    axes.set(xlabel="$x$", xlim=(-7.5, 7.5))
    legend_above(axes, ncols=2)
    return figure, axes
