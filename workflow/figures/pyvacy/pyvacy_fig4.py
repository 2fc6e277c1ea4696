"""Test accuracy of the MNIST classifier along training, by the sound update, the paper's and without privacy."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.curves import learning_curves

NAMES = {
    "exact": "not private",
    "code": "mean clipped, noise as in code: hides nobody",
    "printed": "mean clipped, noise as printed: hides nobody",
    "sound": "each record clipped: private",
    "sound_unit": "the same, pixels from 0 to 1",
}
PUBLISHED = {"not private (paper)": 0.98, "private (paper)": 0.95}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each update; the paper states where two of its own end."""
    del published
    return learning_curves(metrics, NAMES, PUBLISHED, height=3.4)
