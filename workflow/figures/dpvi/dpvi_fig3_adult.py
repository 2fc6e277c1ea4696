"""Accuracy on Adult against epsilon for several clipping bounds, beside the paper's stored values."""

import pandas as pd
from matplotlib.figure import Figure

from dpinfer.figures.dpvi import by_clip


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each bound."""
    return by_clip(metrics, published, "adult")
