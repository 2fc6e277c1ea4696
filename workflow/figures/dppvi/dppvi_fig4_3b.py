"""Log KL along epsilon for clips at percentiles against a fixed one: q = 0.1, learning rate 0.03."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.rounds import by_clip

ARMS = {"fixed": "b_fixed", "percentile": "b_percentile", "private": "b_private"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one colour for each percentile; the clip of a dashed curve is chosen privately."""
    del published  # the thesis prints no numbers
    return by_clip(metrics, ARMS, (0.2, 0.4, 0.6, 0.8), "q = 0.1, learning rate 0.03")
