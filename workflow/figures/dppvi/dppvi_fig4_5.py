"""Log KL along epsilon on other data: percentiles against a fixed clip."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.rounds import by_clip

ARMS = {"fixed": "fixed", "percentile": "percentile", "private": "private"}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one colour for each percentile; the clip of a dashed curve is chosen privately."""
    del published  # the thesis prints no numbers
    return by_clip(metrics, ARMS, (0.2, 0.4, 0.6), r"$\theta = (5, -2)$, $\sigma_e = 3$")
