"""Test accuracy of the tutorial's convolutional classifier along training."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.curves import learning_curves

NAMES = {"exact": "not private", "private": "private"}
PUBLISHED = {"private (authors' notes)": 0.967}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw both curves, and where the authors' ends."""
    del published
    return learning_curves(metrics, NAMES, PUBLISHED, height=2.8)
