"""Test accuracy of the MNIST classifier along training, by the sound update, the paper's and without privacy."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpinfer.figures.learning import curves
from dpinfer.figures.style import COLUMN_WIDTH, legend_above

NAMES = {
    "exact": "not private",
    "code": "mean clipped, noise as in code: hides nobody",
    "printed": "mean clipped, noise as printed: hides nobody",
    "sound": "each record clipped: private",
}
PUBLISHED = {"not private (paper)": 0.98, "private (paper)": 0.95}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each update; the paper states where two of its own end."""
    del published
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 3.2))
    curves(axes, metrics, NAMES, PUBLISHED)
    legend_above(axes)
    return figure
