"""Test loss of the auto-encoders after training, over that of d3p in the paper, and time per epoch."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.plots.style import COLUMN_WIDTH, PUBLISHED

DATA = {
    "mnist": ("MNIST", "dense", 468),
    "fashion": ("Fashion", "dense", 468),
    "cifar": ("CIFAR", "convolutions", 390),
}
"""Each data set's name, the network that is timed for it, and steps per epoch."""
KINDS = {True: "", False: "_exact"}
NAMES = {True: "private", False: "not private"}
COLOURS = {True: "C0", False: "C1"}
MARKERS = {"d3p": "_", "TensorFlow": "x"}
Places = dict[tuple[str, bool], float]


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw losses above, as ratios, and times below; the paper's times are those of a large GPU."""
    assert published is not None
    losses = metrics[metrics["metric"] == "loss"]
    times = metrics[metrics["metric"] == "milliseconds"]
    figure, (above, below) = plt.subplots(2, 1, figsize=(COLUMN_WIDTH, 4.2), sharex=True)
    places = {
        (data, private): place + (0.3 if private else 0) for place, data in enumerate(DATA) for private in KINDS
    }
    scale = published[published["framework"] == "d3p"].set_index(["data", "private"])["loss"]
    for (data, private), place in places.items():
        _, network, steps = DATA[data]
        for start, marker in (("", "o"), ("_glorot", "^")):
            runs = losses[losses["arm"] == data + start + KINDS[private]]["value"] / scale[data, private]
            above.plot([place] * len(runs), runs, marker, ms=3, color=COLOURS[private])
        program = "private" if private else "exact"
        own = times[(times["arm"] == network) & (times["program"] == program)]["value"] * steps / 1000
        below.plot([place] * len(own), own, "o", ms=3, color=COLOURS[private])
    relative = published.assign(scale=published.set_index(["data", "private"]).index.map(scale.to_dict()))
    _overlay(above, relative, places, "loss")
    _overlay(below, published.assign(scale=1.0), places, "seconds")
    _name(above)
    above.set(ylabel="test loss / d3p's in the paper")
    below.set(yscale="log", ylabel="time for an epoch (s)")
    below.set_xticks([place + 0.15 for place in range(len(DATA))], [_told(losses, data) for data in DATA])
    figure.legend(*above.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def _told(losses: pd.DataFrame, data: str) -> str:
    """The name of a data set, and for how long ours was trained on it."""
    name, _, steps = DATA[data]
    trained = losses.loc[losses["arm"] == data, "num_steps"]
    return name if trained.empty else f"{name}\n{trained.max() / steps:.2g} epochs"


def _overlay(axes: Axes, published: pd.DataFrame, places: Places, column: str) -> None:
    for _, row in published.iterrows():
        place = places[row["data"], bool(row["private"])] + 0.1
        value, spread = row[column] / row["scale"], row[f"{column}_spread"] / row["scale"]
        axes.errorbar(place, value, spread, color=PUBLISHED, marker=MARKERS[row["framework"]], ms=5)


def _name(axes: Axes) -> None:
    for private, name in NAMES.items():
        axes.plot([], [], "o", ms=3, color=COLOURS[private], label=f"ours, {name}")
    axes.plot([], [], "^", ms=3, color=COLOURS[True], label="ours, Glorot's start")
    for framework, marker in MARKERS.items():
        axes.plot([], [], marker, color=PUBLISHED, ms=5, label=f"paper, {framework} (GPU)")
