"""Time for one minibatch of 128 against the number of records: by our samplers it does not grow."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import time_curves
from pipeline.plots.style import COLUMN_WIDTH, legend_above

NAMES = {
    "poisson": "Poisson (count, then permutation)",
    "subset": "fixed size (permutation)",
    "bernoulli": "a coin for every record",
    "choice": "jax.random.choice",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw a line for each way."""
    del published  # a measurement of our own
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6))
    time_curves(axes, metrics[metrics["arm"].isin(["small", "huge"])], "records", "microseconds", NAMES)
    axes.set(xlabel="records", ylabel="time for one minibatch (µs)")
    legend_above(axes)
    return figure
