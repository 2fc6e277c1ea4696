"""Test loss of the auto-encoders after training, and time per epoch: ours, and what the paper printed."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpinfer.figures.style import COLUMN_WIDTH, PUBLISHED

DATA = {
    "mnist": ("MNIST", "dense", 468),
    "fashion": ("Fashion", "dense", 468),
    "cifar": ("CIFAR", "convolutions", 390),
}
"""Each data set's name, the network that is timed for it, and steps per epoch."""
KINDS = {True: "", False: "_exact"}
NAMES = {True: "private", False: "not private"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw losses above and times below; the paper's times are those of a large GPU."""
    assert published is not None
    losses = metrics[metrics["metric"] == "loss"]
    times = metrics[metrics["metric"] == "milliseconds"]
    figure, (above, below) = plt.subplots(2, 1, figsize=(COLUMN_WIDTH, 3.8), sharex=True)
    places = {
        (data, private): place + (0.3 if private else 0) for place, data in enumerate(DATA) for private in KINDS
    }
    for private in KINDS:
        colour = "C0" if private else "C1"
        for data, (_, network, steps) in DATA.items():
            place = places[data, private]
            runs = losses[losses["arm"] == data + KINDS[private]]
            above.plot([place] * len(runs), runs["value"], ".", color=colour)
            program = "private" if private else "exact"
            own = times[(times["arm"] == network) & (times["program"] == program)]
            below.plot([place] * len(own), own["value"] * steps / 1000, ".", color=colour)
        above.plot([], [], ".", color=colour, label=f"ours, {NAMES[private]}")
    _overlay(above, published, places, "loss")
    _overlay(below, published, places, "seconds")
    _name(above, published)
    above.set(yscale="log", ylabel="test loss (nats per image)")
    below.set(yscale="log", ylabel="time for an epoch (s)")
    below.set_xticks([place + 0.15 for place in range(len(DATA))], [name for name, *_ in DATA.values()])
    figure.legend(*above.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


MARKERS = {"d3p": "_", "TensorFlow": "x"}


def _overlay(axes: Axes, published: pd.DataFrame, places: dict[tuple[str, bool], float], column: str) -> None:
    for _, row in published.iterrows():
        place = places[row["data"], bool(row["private"])] + 0.1
        marker = MARKERS[row["framework"]]
        axes.errorbar(place, row[column], row[f"{column}_spread"], color=PUBLISHED, marker=marker, ms=5)


def _name(axes: Axes, published: pd.DataFrame) -> None:
    for framework in published["framework"].unique():
        name = f"paper, {framework}"
        axes.plot([], [], color=PUBLISHED, linestyle="none", marker=MARKERS[framework], ms=5, label=name)
