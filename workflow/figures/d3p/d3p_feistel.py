"""The Feistel sampler: how long its walks are, and how evenly its batches include the records.

Left: share of indices, and of batches by their longest walk, that need more than so many applications. Middle
and right: inclusion probabilities of all records in rising order. The small-seed sampler is shown under every
seed it has, so its spread is no noise.
"""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.plots.curves import plain_curve
from pipeline.plots.style import COLUMN_WIDTH, PUBLISHED

SIZES = (32769, 50000, 60000)
SAMPLERS = {
    "small_seed": ("paper: one seed below $n$", "C1"),
    "round_keys": ("ours: a key for each round", "C0"),
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the walks, and the inclusion for two numbers of records."""
    del published  # the paper states formulas and no curve
    figure, axes = plt.subplots(1, 3, figsize=(2 * COLUMN_WIDTH, 3.1), width_ratios=(1.3, 1, 1))
    _walks(axes[0], metrics[metrics["arm"] == "walks"])
    for panel, arm in zip(axes[1:], ("inclusion_500", "inclusion_100"), strict=True):
        _inclusion(panel, metrics[metrics["arm"] == arm])
    axes[2].sharey(axes[1])
    axes[2].autoscale(axis="y")
    axes[2].tick_params(labelleft=False)
    axes[1].set_ylabel("inclusion probability")
    for panel in axes[:2]:
        panel.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, labelspacing=0.3)
    return figure


def _walks(axes: Axes, metrics: pd.DataFrame) -> None:
    axes.plot([], [], color="0.4", label="lines: geometric prediction")
    beyond = metrics.assign(value=1 - metrics["value"])
    for color, size in zip(("C0", "C1", "C2"), SIZES, strict=True):
        chosen = beyond[(beyond["records"] == size) & (beyond["metric"] == "within")]
        _simulated_and_predicted(axes, chosen, color, "o", f"an index, $n = {size}$")
    longest = beyond[(beyond["records"] == SIZES[0]) & (beyond["metric"] == "batch_within")]
    batch = int(longest["batch"].iloc[0])
    _simulated_and_predicted(axes, longest, "C3", "s", f"the longest of {batch}, $n = {SIZES[0]}$")
    axes.plot(7, 0.01, "x", color=PUBLISHED, markersize=6, zorder=5, label="at most 1 % beyond 7 (paper)")
    axes.set(yscale="log", xlim=(0.5, 16.5), ylim=(1e-4, 1.5), xticks=range(1, 17, 3))
    axes.set(xlabel="applications of the network, $l$", ylabel="share that takes more than $l$")


def _simulated_and_predicted(axes: Axes, shares: pd.DataFrame, color: str, marker: str, name: str) -> None:
    seen = shares[shares["value"] > 0]  # a share of zero has no place on a logarithmic axis
    predicted, simulated = (seen[seen["source"] == source] for source in ("predicted", "simulated"))
    plain_curve(axes, predicted, "applications", "_prediction", color=color)
    plain_curve(axes, simulated, "applications", name, color=color, marker=marker, linestyle="", markersize=3)


def _inclusion(axes: Axes, metrics: pd.DataFrame) -> None:
    records, batch, keys = (int(metrics[column].iloc[0]) for column in ("records", "batch", "keys"))
    low, high = (metrics.loc[metrics["metric"] == end, "value"].item() for end in ("band_low", "band_high"))
    inclusion = metrics[metrics["metric"] == "inclusion"]
    for sampler, (name, color) in SAMPLERS.items():
        plain_curve(
            axes, inclusion[inclusion["sampler"] == sampler], "rank", name, color=color, drawstyle="steps-mid"
        )
    axes.axhspan(low, high, color="0.85", linewidth=0, zorder=0, label=f"noise of {keys} keys")
    axes.axhline(batch / records, color="black", linewidth=0.8, linestyle=":", label="$B/n$")
    axes.text(0.95, 0.05, f"$n = {records}$, $B = {batch}$", transform=axes.transAxes, ha="right")
    axes.set(xlabel="record, by rank")
