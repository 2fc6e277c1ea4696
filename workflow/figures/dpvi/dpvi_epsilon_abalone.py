"""Epsilon of DPVI on Abalone against its noise, by accountant."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.curves import by_noise


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one line for each accountant."""
    del published  # the paper prints no numbers
    return by_noise(metrics)
