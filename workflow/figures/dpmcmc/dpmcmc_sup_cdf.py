"""Empirical distribution function of the decomposed noise, C = 2, by both corrections."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.chains import sampled


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one line for each correction."""
    del published  # the supplement prints no numbers
    figure, axes = sampled(metrics, "cdf")
    axes.set_ylabel("distribution function")
    return figure
