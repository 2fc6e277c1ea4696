"""Log-likelihood of test records under a Gaussian mixture against epsilon: DPVI and DP-SGLD."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.plots.curves import log_epsilon, mean_curves, mean_line
from pipeline.plots.style import COLUMN_WIDTH, legend_above

# The mean log-density of the test records under the clusters that they were drawn from.
TRUTH = -3.676


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw what the released code does above, and the same without its slips below."""
    del published  # the paper prints no numbers
    kept = metrics[metrics["metric"] == "log_likelihood"]
    dpvi, langevin = (kept[kept["experiment"] == name] for name in ("dpvi_fig4", "dpvi_sgld_clusters"))
    figure, (above, below) = plt.subplots(2, 1, figsize=(COLUMN_WIDTH, 5.2))
    _panel(
        above,
        {
            "DPVI, composition": _arm(dpvi, "code", "eps_paper"),
            "DPVI, moments": _arm(dpvi, "constants", "eps_paper"),
            "DP-SGLD": _arm(langevin, "code", "eps_paper"),
        },
        dpvi[dpvi["arm"] == "exact"],
    )
    above.set_xlabel(r"as coded: $\varepsilon$ as the paper accounts it ($\delta = 10^{-3}$)")
    _panel(
        below,
        {
            "DPVI as coded": _arm(dpvi, "code", "eps_sound"),
            "DPVI corrected": _arm(dpvi, "corrected", "eps_sound"),
            "DP-SGLD corrected": _arm(langevin, "sound", "eps_sound"),
        },
        dpvi[dpvi["arm"] == "exact_corrected"],
    )
    below.set_xlabel(r"sound $\varepsilon$ (replace one record, $\delta = 10^{-3}$)")
    return figure


def _panel(axes: Axes, curves: dict[str, pd.DataFrame], exact: pd.DataFrame) -> None:
    mean_curves(axes, pd.concat([curve.assign(curve=name) for name, curve in curves.items()]), "x", "curve")
    mean_line(axes, exact, "no privacy")
    axes.axhline(TRUTH, color="0.4", linestyle=":", linewidth=1, label="true density")
    log_epsilon(axes)
    axes.set_ylabel("test log-likelihood per record")
    legend_above(axes, ncols=2)


def _arm(runs: pd.DataFrame, arm: str, x: str) -> pd.DataFrame:
    chosen = runs[runs["arm"] == arm]
    return chosen.assign(x=chosen[x])
