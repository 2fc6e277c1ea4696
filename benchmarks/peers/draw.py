"""Time and memory of one private step by every library, relative to NumPyro's SVI without privacy."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.style import COLUMN_WIDTH


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw bars, the quickest library on top."""
    del published  # a measurement of our own
    rows = metrics.dropna(subset=["ratio"]).sort_values("ratio", ascending=False)
    colours = ["C0" if name.startswith("dpinfer") else "0.6" for name in rows["library"]]
    figure, (times, memory) = plt.subplots(
        1, 2, figsize=(1.5 * COLUMN_WIDTH, 2.6), sharey=True, width_ratios=[3, 2]
    )
    times.barh(rows["library"], rows["ratio"], color=colours)
    for place, ratio in enumerate(rows["ratio"]):
        times.text(ratio, place, f" {ratio:.3g}", va="center", fontsize=6)
    times.set(xscale="log", xlabel="time for a step / NumPyro's, not private", xlim=(0.5, 4 * rows["ratio"].max()))
    memory.barh(rows["library"], rows["memory_ratio"], color=colours)
    memory.set(xlabel="peak memory / NumPyro's")
    return figure
