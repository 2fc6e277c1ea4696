"""Figures of DPVI that two data sets share."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.plots.curves import log_epsilon, mean_curves, mean_line
from pipeline.plots.style import COLUMN_WIDTH, PUBLISHED, legend_above

ABALONE_RATES = {f"q{1e4 * rate:04.0f}": f"$q = {rate:g}$" for rate in (0.01, 0.0325, 0.055, 0.0775, 0.1)}
ADULT_RATES = {f"q{1e4 * rate:04.0f}": f"$q = {rate:g}$" for rate in (0.001, 0.002, 0.003, 0.004, 0.005)}
"""Arms of Fig. 2 and what a legend calls them."""
CODINGS = {
    "frequency": ("exact_frequency", "categories coded by frequency"),
    "sorted": ("exact", "categories coded alphabetically"),
}
"""Ways to code Adult's categories, with their run without privacy, and what a title calls them."""


def by_accountant(metrics: pd.DataFrame, published: pd.DataFrame, data: str) -> Figure:
    """Fig. 1: accuracy against epsilon, above as the paper accounts it and below by a sound account.

    Args:
        metrics: Of `dpvi_fig1_<data>`, `dpvi_sgld_<data>` and `dpvi_epsilon_<data>`.
        published: The paper's `value` by `arm` and `epsilon`, with its standard error `sem`.
        data: Name of the data set.
    """
    runs, langevin, account = (
        metrics[metrics["experiment"] == f"dpvi_{name}_{data}"] for name in ("fig1", "sgld", "epsilon")
    )
    code, baseline = runs[runs["arm"] == "code"], langevin[langevin["arm"] == "code"]
    claimed = {
        "DPVI, composition": code.assign(x=code["eps_paper"]),
        "DPVI, moments": code.assign(x=_moments(code, account)),
        "Algorithm 1": _at(runs, "stated", "eps_paper"),
        "DP-SGLD": baseline.assign(x=baseline["eps_paper"]),
    }
    sound = {
        "DPVI as coded": code.assign(x=code["eps_sound"]),
        "DPVI, Poisson": _at(runs, "sound", "eps_sound"),
        "Algorithm 1": _at(runs, "stated", "eps_sound"),
        "DP-SGLD, clipped": _at(langevin, "clipped", "eps_sound"),
    }
    figure, (above, below) = plt.subplots(2, 1, figsize=(COLUMN_WIDTH, 5.4), sharey=True)
    for axes, curves in ((above, claimed), (below, sound)):
        mean_curves(axes, pd.concat([curve.assign(curve=name) for name, curve in curves.items()]), "x", "curve")
        mean_line(axes, runs[runs["arm"] == "exact"], "no privacy")
        axes.set_ylabel("test accuracy")
    _published(above, published)
    above.set_xlabel(r"$\varepsilon$ as the paper accounts it ($\delta = 10^{-3}$)")
    below.set_xlabel(r"sound $\varepsilon$ (replace one record, $\delta = 10^{-3}$)")
    for axes in (above, below):
        log_epsilon(axes)
        legend_above(axes, ncols=2)
    return figure


def by_setting(
    axes: Axes,
    metrics: pd.DataFrame,
    published: pd.DataFrame | None,
    setting: str,
    names: Mapping[Any, str],
    exact: pd.DataFrame,
) -> None:
    """Figs. 2 and 3: accuracy against epsilon, one curve for each value of a setting, and the paper's own values.

    Args:
        axes: Where to draw.
        metrics: The runs.
        published: The paper's `value` by the setting and `noise_multiplier`, where it is known.
        setting: The column that tells curves apart.
        names: Its values, and what the legend calls them.
        exact: Runs without privacy.
    """
    for number, (value, name) in enumerate(names.items()):
        chosen = metrics[metrics[setting] == value]
        spread = chosen.groupby("eps_paper")["value"].agg(["mean", "sem"])
        axes.errorbar(spread.index, spread["mean"], spread["sem"], color=f"C{number}", marker=".", label=name)
        if published is not None:
            theirs = published[published[setting] == value].set_index("noise_multiplier")["value"]
            epsilon = chosen.groupby("noise_multiplier")["eps_paper"].first()
            axes.plot(epsilon, theirs.reindex(epsilon.index), "x", color=f"C{number}")
    if published is not None:
        axes.plot([], [], "x", color=PUBLISHED, label="paper")
    mean_line(axes, exact, "no privacy")
    log_epsilon(axes)
    axes.set(ylabel="test accuracy", xlabel=r"$\varepsilon$ as the paper accounts it ($\delta = 10^{-3}$)")


def by_coding(
    metrics: pd.DataFrame, published: pd.DataFrame | None, experiment: str, setting: str, names: Mapping[Any, str]
) -> Figure:
    """Figs. 2 and 3 on Adult: one panel for each way to code its categories."""
    figure, panels = plt.subplots(len(CODINGS), 1, figsize=(COLUMN_WIDTH, 5.0), sharex=True, sharey=True)
    runs = metrics[metrics["experiment"] == experiment]
    for axes, (coding, (arm, title)) in zip(panels, CODINGS.items(), strict=True):
        exact = metrics[(metrics["experiment"] == "dpvi_fig1_adult") & (metrics["arm"] == arm)]
        by_setting(axes, runs[runs["data.encoding"] == coding], published, setting, names, exact)
        axes.set_title(title, loc="right")
        axes.label_outer()
    legend_above(panels[0], ncols=3)
    return figure


def clips(metrics: pd.DataFrame, experiment: str) -> dict[float, str]:
    """Clipping bounds of Fig. 3 and what a legend calls them."""
    bounds = metrics.loc[metrics["experiment"] == experiment, "clip"]
    return {clip: f"$c = {clip:g}$" for clip in sorted(bounds.unique())}


def _at(runs: pd.DataFrame, arm: str, x: str) -> pd.DataFrame:
    chosen = runs[runs["arm"] == arm]
    return chosen.assign(x=chosen[x])


def _moments(runs: pd.DataFrame, account: pd.DataFrame) -> np.ndarray:
    """Epsilon by the moments accountant as coded, for runs whose noise is 2 sigma."""
    curve = account[(account["arm"] == "moments_code") & (account["metric"] == "epsilon")]
    curve = curve.sort_values("noise_multiplier")
    sigma = np.log(runs["noise_multiplier"] / 2)
    # Both lists of sigma are the same up to their last digit.
    return np.exp(np.interp(sigma, np.log(curve["noise_multiplier"]), np.log(curve["value"])))


def _published(axes: Axes, published: pd.DataFrame) -> None:
    private, exact = (published[published["arm"] == arm] for arm in ("code", "exact"))
    if len(private):
        axes.errorbar(
            private["epsilon"], private["value"], private["sem"],
            color=PUBLISHED, linestyle="none", marker="x", linewidth=0.8, label="paper, composition",
        )  # fmt: skip
    axes.axhline(exact["value"].item(), color=PUBLISHED, linestyle=":", label="paper, no privacy")
