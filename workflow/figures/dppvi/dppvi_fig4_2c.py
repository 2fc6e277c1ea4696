"""Log KL along epsilon for four sampling rates, with the clip 8."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.rounds import by_rate


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each sampling rate."""
    del published  # the thesis prints no numbers
    return by_rate(metrics, 8)
