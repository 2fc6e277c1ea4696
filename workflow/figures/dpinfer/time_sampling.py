"""Time for one minibatch of 128 against the number of records: by our samplers it does not grow."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpinfer.figures.style import COLUMN_WIDTH, legend_above

NAMES = {
    "poisson": "Poisson (count, then permutation)",
    "subset": "fixed size (permutation)",
    "bernoulli": "a coin for every record",
    "choice": "jax.random.choice",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw a line for each way, with bars between the quartiles."""
    del published  # a measurement of our own
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    times = metrics[metrics["arm"].isin(["small", "huge"])]
    for program, name in NAMES.items():
        own = times[times["program"] == program].pivot_table(index="records", columns="metric", values="value")
        bars = [own["microseconds"] - own["microseconds_low"], own["microseconds_high"] - own["microseconds"]]
        axes.errorbar(own.index, own["microseconds"], yerr=bars, marker=".", capsize=2, label=name)
    axes.set(xscale="log", yscale="log", xlabel="records", ylabel="time for one minibatch (µs)")
    legend_above(axes)
    return figure
