"""Test accuracy of the tutorial's convolutional classifier along training."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpinfer.figures.learning import curves
from dpinfer.figures.style import COLUMN_WIDTH, legend_above

NAMES = {"exact": "not private", "private": "private"}
PUBLISHED = {"private (authors' notes)": 0.967}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw both curves, and where the authors' ends."""
    del published
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.8))
    curves(axes, metrics, NAMES, PUBLISHED)
    legend_above(axes)
    return figure
