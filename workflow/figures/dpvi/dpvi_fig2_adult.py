"""Accuracy on Adult against epsilon for several sampling rates, beside the paper's stored values."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.dpvi import ADULT_RATES, by_coding


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each rate."""
    return by_coding(metrics, published, "dpvi_fig2_adult", "arm", ADULT_RATES)
