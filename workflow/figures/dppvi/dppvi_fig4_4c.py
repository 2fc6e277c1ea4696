"""Log KL along epsilon where a fixed clip is unstable: the 60th percentile against it."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.rounds import by_clip

ARMS = {"fixed": "fixed", "percentile": "percentile", "private": "private"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the fixed clip, the percentile, and the same chosen privately."""
    del published  # the thesis prints no numbers
    return by_clip(metrics, ARMS, (0.6,), "q = 0.03, learning rate 0.03")
