"""Accuracy on Adult against epsilon for several clipping bounds, beside the paper's stored values."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.dpvi import by_coding, clips

EXPERIMENT = "dpvi_fig3_adult"


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each bound."""
    return by_coding(metrics, published, EXPERIMENT, "clip", clips(metrics, EXPERIMENT))
